#!/usr/bin/env bash
# Scans read security.txt to tell its contacts of findings. Since RFC 9116 (2022) the field Expires is required, a file past it is stale and should not be used (section 2.5.5), and a field for thanks is "Acknowledgments" (section 2.5.1).
# One would guess that a parser for security.txt knows both.
# securitytxt-parser (PyPI) calls a file valid that has expired, and one without Expires, and has no field for the date. It drops "Acknowledgments", as it waits for "acknowledgements".
# A report made with it lists contacts as current that are stale. sectxt (PyPI) reports both files.
# Seen with securitytxt-parser 1.1 and sectxt 0.9.8.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check securitytxt-parser==1.1 sectxt==0.9.8
printf '%s\r\n' 'Contact: mailto:security@example.com' 'Acknowledgments: https://example.com/thanks' 'Preferred-Languages: en' > undated.txt
{ cat undated.txt; printf '%s\r\n' 'Expires: 2023-01-01T00:00:00Z'; } > expired.txt
cat > read.py <<'PY'
import sectxt
from securitytxt import SecurityTxt

for name in ('undated', 'expired'):
    data = open(f'{name}.txt', 'rb').read()
    reader = SecurityTxt()
    print(f'{name}, securitytxt-parser: {"valid" if reader.parse(data) else "invalid"}, fields', *reader.to_dict())
    parser = sectxt.Parser(data)
    print(f'{name}, sectxt: {"valid" if parser.is_valid() else "invalid"},', *(error['code'] for error in parser.errors))
PY
seen=$(venv/bin/python read.py)
expected='undated, securitytxt-parser: valid, fields contact preferred-languages
undated, sectxt: invalid, no_expire
expired, securitytxt-parser: valid, fields contact preferred-languages
expired, sectxt: invalid, expired'
printf 'expected: both files invalid for both\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
