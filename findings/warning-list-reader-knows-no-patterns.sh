#!/usr/bin/env bash
# The warning lists of MISP name what is no sign of an attack: public resolvers, large sites, networks of providers. Each has a type: string, substring, hostname, cidr or regex, where cidr is "IP or CDIR block matching" (README of misp-warninglists). Names of hosts are equal in any case (RFC 4343).
# One would guess that MISP's library for the lists finds what a list names with slow_search, which it needs to look into networks and domains.
# pymispwarninglists (PyPI) finds nothing by a list of the type regex, of which it ships two: security@example.com is a usual contact for such a list. It does not find EXAMPLE.com, nor 10.1.0.0/16 in a list with 10.0.0.0/8.
# There is no error, and without slow_search, the default, no address is in a network. What a list would have marked as harmless stays a finding.
# Seen with pymispwarninglists 1.7.0.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pymispwarninglists==1.7.0
cat > ask.py <<'PY'
import json
from pathlib import Path

import pymispwarninglists
from pymispwarninglists import WarningList

LISTS = [
    ('regex', '/^security@/i', ['security@example.com']),
    ('hostname', 'example.com', ['example.com', 'EXAMPLE.com', 'www.example.com']),
    ('cidr', '10.0.0.0/8', ['10.0.0.0/8', '10.0.0.1', '10.1.0.0/16']),
]
for slow in (True, False):
    for kind, entry, values in LISTS:
        one = WarningList({'name': 'lab', 'description': '', 'version': 1, 'matching_attributes': [], 'type': kind, 'list': [entry]}, slow_search=slow)
        print(f'slow_search={slow}: {kind} {entry}:', *(f'{value} {value in one}' for value in values))
contacts = Path(pymispwarninglists.__file__).parent / 'data/misp-warninglists/lists/common-contact-emails/list.json'
one = WarningList(json.loads(contacts.read_text()), slow_search=True)
print('common-contact-emails:', one.type, one.list[0], 'security@example.com' in one)
PY
seen=$(venv/bin/python ask.py)
expected='slow_search=True: regex /^security@/i: security@example.com False
slow_search=True: hostname example.com: example.com True EXAMPLE.com False www.example.com True
slow_search=True: cidr 10.0.0.0/8: 10.0.0.0/8 True 10.0.0.1 True 10.1.0.0/16 False
slow_search=False: regex /^security@/i: security@example.com False
slow_search=False: hostname example.com: example.com True EXAMPLE.com False www.example.com False
slow_search=False: cidr 10.0.0.0/8: 10.0.0.0/8 True 10.0.0.1 False 10.1.0.0/16 False
common-contact-emails: regex /^(security|noc|soc|abuse)\@.*\..*$/i False'
printf 'expected: True for each with slow_search\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
