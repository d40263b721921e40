#!/usr/bin/env bash
# A router that samples one packet of 100 says so in the header of NetFlow 5, by which a reader multiplies the counts of a flow. Of the 16 bits of sampling_interval "First two bits hold the sampling mode; remaining 14 bits hold value of sampling interval" (Cisco's table of the header, bytes 22-23).
# One would guess that a library for NetFlow returns 100, or the two parts.
# netflow (PyPI) and node-netflowv9 (npm) return 16484, the mode and the interval in one number: what is multiplied by it is 164 times too large, and a scan looks like a flood. A router that does not sample has 0, and is right.
# Seen with netflow 0.12.2 and node-netflowv9 0.2.16.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" node-netflowv9@0.2.16
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check netflow==0.12.2
cat > read.py <<'PY'
import struct

import netflow

RECORD = struct.pack('!4s4s4sHHIIIIHHBBBBHHBBH', bytes([192, 0, 2, 1]), bytes([192, 0, 2, 2]), bytes(4), 1, 2, 10, 1000, 999000, 999500, 443, 51000, 0, 27, 6, 0, 0, 0, 24, 24, 0)
for mode, interval in ((0, 0), (1, 100), (2, 100)):
    packet = struct.pack('!HHIIIIBBH', 5, 1, 1000000, 1700000000, 0, 1, 0, 0, mode << 14 | interval) + RECORD
    open(f'{mode}.bin', 'wb').write(packet)
    print(f'netflow: mode {mode}, interval {interval}: {netflow.parse_packet(packet, {}).header.sampling_interval}')
PY
cat > read.cjs <<'JS'
const { readFileSync } = require('fs')
const collector = require('node-netflowv9')(() => {})

for (const mode of [0, 1, 2]) {
  const { header } = collector.nfPktDecode(readFileSync(`${mode}.bin`), { address: '127.0.0.1', port: 1 })
  console.log(`node-netflowv9: mode ${mode}: ${header.sampling_interval}`)
}
process.exit()
JS
seen=$(venv/bin/python read.py && node read.cjs)
expected='netflow: mode 0, interval 0: 0
netflow: mode 1, interval 100: 16484
netflow: mode 2, interval 100: 32868
node-netflowv9: mode 0: 0
node-netflowv9: mode 1: 16484
node-netflowv9: mode 2: 32868'
printf 'expected: an interval of 0, 100 and 100\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
