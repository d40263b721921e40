#!/usr/bin/env bash
# The answer code of DNS has twelve bits: four in the header, eight in the OPT record (RFC 6891, section 6.1.3). BADVERS is 16 and BADCOOKIE 23, so the header alone says NOERROR and YXRRSET.
# One would guess that libraries which decode the OPT record give the code of both.
# dns-packet (npm), dnslib and scapy (PyPI) give that of the header: a server that refuses the version of EDNS has answered well, with no records, which means that the name has none of this type.
# An inventory of servers counts those that refuse EDNS among those that answer it, and names BADCOOKIE as an error of updates. dnspython (PyPI) and dns2 (npm) give the whole code.
# With dns-packet, add 16 times extendedRcode of the OPT record.
# Seen with dns-packet 5.6.1, dnslib 0.9.26, scapy 2.8.0, dns2 3.0.0 and dnspython 2.9.2.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" dns-packet@5.6.1 dns2@3.0.0
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check dnslib==0.9.26 scapy==2.8.0 dnspython==2.9.2
cat > read.py <<'PY'
import struct

import dns.message
import dns.rcode
import dnslib
from scapy.layers.dns import DNS

for code in (16, 23):
    question = b'\x07example\x03com\x00' + struct.pack('>HH', 1, 1)
    option = b'\x00' + struct.pack('>HHBBHH', 41, 1232, code >> 4, 0, 0, 0)
    answer = struct.pack('>HHHHHH', 1, 0x8180 | code & 15, 1, 0, 0, 1) + question + option
    with open(f'{code}.bin', 'wb') as file:
        file.write(answer)
    print('dnspython:', dns.rcode.to_text(dns.message.from_wire(answer).rcode()))
    print('dnslib:', dnslib.RCODE.get(dnslib.DNSRecord.parse(answer).header.rcode))
    print('scapy:', DNS(answer).rcode)
PY
cat > read.cjs <<'JS'
const { readFileSync } = require('node:fs')
const { decode } = require('dns-packet')
const { Packet } = require('dns2')

for (const code of [16, 23]) {
  const answer = readFileSync(`${code}.bin`)
  console.log('dns2:', Packet.parse(answer).header.rcode)
  console.log('dns-packet:', decode(answer).rcode)
}
JS
seen=$(venv/bin/python read.py 2> /dev/null && node read.cjs)
expected='dnspython: BADVERS
dnslib: NOERROR
scapy: 0
dnspython: BADCOOKIE
dnslib: YXRRSET
scapy: 7
dns2: 16
dns-packet: NOERROR
dns2: 23
dns-packet: YXRRSET'
printf 'expected: 16 (BADVERS) and 23 (BADCOOKIE) from each\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
