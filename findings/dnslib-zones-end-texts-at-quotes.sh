#!/usr/bin/env bash
# A TXT record holds any text, such as the keys of services, JSON or a word in quotes. In a zone file, and in what dig prints, a quote within it is written \" and a backslash \\ (RFC 1035, section 5.1).
# One would guess that dnslib (PyPI), with which servers for tests of DNS are made, reads back what it writes with toZone().
# It writes quotes and backslashes as they are: the text say "hi" becomes three strings for itself and for dnspython, and a backslash is gone.
# There is no error. A copy of a zone that it wrote has other texts, and a comparison of records by their text finds changes that are none.
# dnspython (PyPI) escapes both.
# Seen with dnslib 0.9.26 and dnspython 2.9.2.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check dnslib==0.9.26 dnspython==2.9.2
cat > texts.py <<'PY'
import dns.rdata
import dns.rdtypes.ANY.TXT
from dnslib import QTYPE, RR, TXT

for text in ('say "hi"', r'C:\lab', '{"key":"value"}'):
    line = RR('lab.example.', QTYPE.TXT, rdata=TXT(text)).toZone()
    value = line.split('TXT', 1)[1].strip()
    print('dnslib writes', value, 'and reads', *(part for record in RR.fromZone(line) for part in record.rdata.data))
    print('dnspython reads', *dns.rdata.from_text('IN', 'TXT', value).strings, 'and writes', dns.rdtypes.ANY.TXT.TXT(1, 16, [text]).to_text())
PY
seen=$(venv/bin/python texts.py)
expected='dnslib writes "say "hi"" and reads b'\''say '\'' b'\''hi'\'' b'\'''\''
dnspython reads b'\''say '\'' b'\''hi'\'' b'\'''\'' and writes "say \"hi\""
dnslib writes "C:\lab" and reads b'\''C:lab'\''
dnspython reads b'\''C:lab'\'' and writes "C:\\lab"
dnslib writes "{"key":"value"}" and reads b'\''{'\'' b'\''key'\'' b'\'':'\'' b'\''value'\'' b'\''}'\''
dnspython reads b'\''{'\'' b'\''key'\'' b'\'':'\'' b'\''value'\'' b'\''}'\'' and writes "{\"key\":\"value\"}"'
printf 'expected: each text as one string\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
