#!/usr/bin/env bash
# The MaxMind DB format has types: boolean, integers, float and double differ ("Output Data Section" of its specification). Tables of owners, sites and risks by network are made with mmdb_writer, and read by scanners.
# One would guess that a value is read as the type with which it was written.
# mmdb_writer stores each distinct value once, and compares them as Python does, where 1, True and 1.0 are equal: the one of the lowest network replaces the others in all records.
# AS 1 becomes True beside a flag, the flag of another network becomes 1.0 behind a score, 0 hosts become False. What a record holds depends on the networks below it.
# Seen with mmdb_writer 0.2.7 and maxminddb 3.2.0.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check mmdb_writer==0.2.7 maxminddb==3.2.0 netaddr==1.3.0
cat > write.py <<'PY'
import json

import maxminddb
from mmdb_writer import MMDBWriter
from netaddr import IPSet

tables = {
    'one': {'192.0.2.0/24': {'asn': 1, 'hosts': 0}},
    'behind flags': {'10.0.0.0/8': {'anycast': True, 'leased': False}, '192.0.2.0/24': {'asn': 1, 'hosts': 0}},
    'behind a score': {'10.0.0.0/8': {'score': 1.0}, '192.0.2.0/24': {'anycast': True, 'asn': 1}},
}
for name, table in tables.items():
    writer = MMDBWriter(4)
    for network, record in table.items():
        writer.insert_network(IPSet([network]), record)
    writer.to_db_file('table.mmdb')
    with maxminddb.open_database('table.mmdb') as reader:
        print(f'{name}:', json.dumps(reader.get('192.0.2.1')))
PY
seen=$(venv/bin/python write.py)
expected='one: {"asn": 1, "hosts": 0}
behind flags: {"asn": true, "hosts": false}
behind a score: {"anycast": 1.0, "asn": 1.0}'
printf 'expected: {"asn": 1, "hosts": 0} twice, then {"anycast": true, "asn": 1}\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
