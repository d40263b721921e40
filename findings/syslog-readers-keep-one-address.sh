#!/usr/bin/env bash
# RFC 5424 lets a parameter of structured data occur several times: [origin ip="192.0.2.1" ip="192.0.2.129"] is its way to name all addresses of a sender. A quote in a value is written \".
# One would guess that readers of RFC 5424 return all addresses and whole values.
# jc and syslog-rfc5424-parser (PyPI) return an object for each element, so the last address replaces the others. jc also ends a value at its first quote, and syslog-rfc5424-parser leaves the escapes in it.
# Hosts are missing in an inventory from the log, and there is no error.
# Seen with jc 1.26.1 and syslog-rfc5424-parser 0.3.2.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check jc==1.26.1 syslog-rfc5424-parser==0.3.2
cat > message.txt <<'TXT'
<165>1 2026-11-29T08:00:00Z gate.example.com app - ID1 [origin ip="192.0.2.1" ip="192.0.2.129"][app@32473 rule="block \"all\" now"] message
TXT
cat > read.py <<'PY'
import json

import jc
from syslog_rfc5424_parser import SyslogMessage

text = open('message.txt').read().strip()
elements = jc.parse('syslog', text)[0]['structured_data']
print('jc:', json.dumps({element['identity']: element['parameters'] for element in elements}))
print('syslog-rfc5424-parser:', json.dumps(SyslogMessage.parse(text).as_dict()['sd']))
PY
seen=$(venv/bin/python read.py)
expected='jc: {"origin": {"ip": "192.0.2.129"}, "app@32473": {"rule": "block "}}
syslog-rfc5424-parser: {"origin": {"ip": "192.0.2.129"}, "app@32473": {"rule": "block \\\"all\\\" now"}}'
printf 'expected: two addresses and block "all" now in each line\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
