#!/usr/bin/env bash
# Devices tell temperatures and levels by SNMP as INTEGER, which is negative below zero and encoded as a two's complement in the fewest bytes (X.690, section 8.3), and the bytes of an interface as Counter64, of 0 to 2^64-1 (RFC 2578, section 7.1.10).
# One would guess that libraries for SNMP return the number that a device sent.
# aiosnmp (PyPI) returns each negative multiple of 256 as 256 more: -256, which is -25.6 degrees in tenths, becomes 0, and -512 becomes -256. Its neighbours are right.
# snmp-native (npm) returns a Counter64 above 2^53 as a rounded number: two readings of a busy interface have no difference, or a wrong one.
# There is no error. puresnmp (PyPI) returns both right, and so does net-snmp (npm), which returns the bytes of a Counter64.
# Seen with aiosnmp 0.7.2, snmp-native 1.2.0 and puresnmp 2.0.1.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" snmp-native@1.2.0
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check aiosnmp==0.7.2 puresnmp==2.0.1
cat > read.py <<'PY'
import json

import puresnmp.types  # registers the types of SNMP
from aiosnmp.message import SnmpResponse
from x690 import decode


def field(tag, content):
    return bytes([tag, len(content)]) + content


def answer(tag, number):
    """An answer with one value, encoded in the fewest bytes."""
    size = next(size for size in range(1, 10) if -(1 << 8 * size - 1) <= number < 1 << 8 * size - 1)
    value = field(tag, number.to_bytes(size, 'big', signed=True))
    pair = field(0x30, field(6, bytes([0x2B, 6, 1, 4, 1, 1])) + value)
    body = field(2, b'\1') + field(2, b'\0') + field(2, b'\0') + field(0x30, pair)
    return field(0x30, field(2, b'\1') + field(4, b'public') + field(0xA2, body))


VALUES = [(2, -255), (2, -256), (2, -257), (2, -512), (2, -32768), (0x46, 9007199254740993), (0x46, 18446744073709551615)]
json.dump([answer(*value).hex() for value in VALUES], open('answers.json', 'w'))
print('sent:       ', *(number for _, number in VALUES))
print('aiosnmp:    ', *(SnmpResponse.decode(answer(*value)).data.varbinds[0].value for value in VALUES))
print('puresnmp:   ', *(decode(answer(*value))[0].value[2].value.varbinds[0].value.value for value in VALUES))
PY
cat > read.cjs <<'JS'
const { parse } = require('snmp-native')

const values = require('./answers.json').map((answer) => parse(Buffer.from(answer, 'hex')).pdu.varbinds[0].value)
console.log('snmp-native:', ...values)
JS
seen=$(venv/bin/python read.py && node read.cjs)
expected='sent:        -255 -256 -257 -512 -32768 9007199254740993 18446744073709551615
aiosnmp:     -255 0 -257 -256 -32512 9007199254740993 18446744073709551615
puresnmp:    -255 -256 -257 -512 -32768 9007199254740993 18446744073709551615
snmp-native: -255 -256 -257 -512 -32768 9007199254740992 18446744073709552000'
printf 'expected: the numbers that were sent\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
