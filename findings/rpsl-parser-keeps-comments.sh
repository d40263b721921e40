#!/usr/bin/env bash
# Registries answer queries for networks and autonomous systems with objects of RPSL. A "#" begins a comment, which ends with the line, and names of attributes have no case (RFC 2622, section 2).
# One would guess that rpsl-parser, "An RFC 2622 conformant" parser, returns values without comments, and one name for "origin" and "Origin".
# It keeps the comment in the value: the origin is "AS64500 # customer", a network "192.0.2.0/24 # lab", and neither is a number or a network for what reads it next. It keeps the case of names. It knows the three forms of lines that go on.
# Seen with rpsl-parser 0.1.3.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check rpsl-parser==0.1.3
cat > read.py <<'PY'
import ipaddress

import rpsl_parser

TEXT = '''route:   192.0.2.0/24 # lab
descr:   first
         second
+        third
Origin:  AS64500 # customer
source:  EXAMPLE
'''
for name, values in rpsl_parser.parse_rpsl_object(TEXT):
    print(f'{name}: {list(values)}')
route = dict(rpsl_parser.parse_rpsl_object(TEXT))['route'][0]
try:
    print(ipaddress.ip_network(route))
except ValueError as error:
    print(f'ValueError: {error}')
PY
seen=$(venv/bin/python read.py)
expected='route: ['\''192.0.2.0/24 # lab'\'']
descr: ['\''first'\'', '\''second'\'', '\''third'\'']
Origin: ['\''AS64500 # customer'\'']
source: ['\''EXAMPLE'\'']
ValueError: '\''192.0.2.0/24 # lab'\'' does not appear to be an IPv4 or IPv6 network'
printf 'expected: 192.0.2.0/24 and AS64500, and the name origin\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
