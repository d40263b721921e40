#!/usr/bin/env bash
# Strict-Transport-Security tells browsers for how many seconds a site is reached by TLS only: the longer, the stronger. Its value may stand in quotes (RFC 6797, sections 6.1 and 6.1.1), and hstspreload.org, the list of browsers, asks for "preload" and at least one year.
# One would guess that an audit of headers complains of less than its policy, not of more.
# drheader compares texts: two years, and one year with preload, are findings of severity "high", as its policy is one year and includeSubDomains. The same year in quotes is one too.
# The advice of the finding is the weaker value, and sites that follow hstspreload.org never get rid of it.
# Seen with drheader 2.0.0.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check drheader==2.0.0
cat > audit.py <<'PY'
from drheader import Drheader

for value in ('max-age=31536000; includeSubDomains', 'max-age=63072000; includeSubDomains', 'max-age=31536000; includeSubDomains; preload', 'max-age="31536000"; includeSubDomains'):
    found = [one for one in Drheader(headers={'Strict-Transport-Security': value}).analyze() if one['rule'] == 'Strict-Transport-Security']
    print(f'{value}:', ', '.join(f"{one['severity']}, expected {'; '.join(one['expected'])}" for one in found) or 'fine')
PY
seen=$(venv/bin/python audit.py)
expected='max-age=31536000; includeSubDomains: fine
max-age=63072000; includeSubDomains: high, expected max-age=31536000; includeSubDomains
max-age=31536000; includeSubDomains; preload: high, expected max-age=31536000; includeSubDomains
max-age="31536000"; includeSubDomains: high, expected max-age=31536000; includeSubDomains'
printf 'expected: all fine\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
