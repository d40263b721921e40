#!/usr/bin/env bash
# Devices of buildings give their clock, holidays and logs as BACnet dates of four bytes: the year since 1900, the month, "1 = January", the day and the weekday, each of them FF if it is not specified; day 32 is the last of a month (ASHRAE 135, Date in clause 21 and clause 20.2.12).
# One would guess that libraries for BACnet return the day that a device sent.
# node-bacnet and bacstack (npm) read the month as JavaScript counts it, from 0: 29 November becomes 29 December, and 31 January 3 March, as February has no 31. What they write is a month early, so a clock that they set is wrong, and what they read of each other is right.
# A date without a year, which is each year's, becomes one of 2156; @bacnet-js/client (npm), which grew out of them, has the month right and returns 1 January 1900.
# There is no error. Controllers are reported for a clock that is a month off, and their events stand in another month. bacpypes3 (PyPI) returns each date as it was sent.
# Seen with node-bacnet 0.2.4, bacstack 0.0.1-beta.14, @bacnet-js/client 3.3.2 and bacpypes3 0.0.110.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" node-bacnet@0.2.4 bacstack@0.0.1-beta.14 @bacnet-js/client@3.3.2
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check bacpypes3==0.0.110
dates=(a47e0b1d07 a47e011f06 a4ff0c19ff)
cat > read.cjs <<'JS'
const libraries = {
  'node-bacnet': require('node-bacnet/lib/asn1.js'),
  bacstack: require('bacstack/lib/asn1.js'),
  '@bacnet-js/client': require('@bacnet-js/client/dist/lib/asn1.js'),
}
for (const [name, library] of Object.entries(libraries)) {
  for (const hex of process.argv.slice(2)) {
    const bytes = Buffer.from(hex, 'hex')
    const { value } = library.bacappDecodeApplicationData(bytes, 0, bytes.length, 8, 56)
    console.log(`${name}: ${hex} is`, value.toDateString())
  }
  const written = { buffer: Buffer.alloc(16), offset: 0 }
  library.encodeApplicationDate(written, new Date(2026, 10, 29))
  console.log(`${name}: 29 November 2026 is`, written.buffer.toString('hex', 0, written.offset))
}
JS
cat > read.py <<'PY'
import sys

from bacpypes3.pdu import PDUData
from bacpypes3.primitivedata import Date, TagList

for text in sys.argv[1:]:
    print(f'bacpypes3: {text} is', Date.decode(TagList.decode(PDUData(bytes.fromhex(text)))))
print('bacpypes3: 29 November 2026 is', TagList([Date((126, 11, 29, 7)).encode()]).encode().pduData.hex())
PY
seen=$(node read.cjs "${dates[@]}" && venv/bin/python read.py "${dates[@]}")
expected='node-bacnet: a47e0b1d07 is Tue Dec 29 2026
node-bacnet: a47e011f06 is Tue Mar 03 2026
node-bacnet: a4ff0c19ff is Sun Jan 25 2156
node-bacnet: 29 November 2026 is a47e0a1d07
bacstack: a47e0b1d07 is Tue Dec 29 2026
bacstack: a47e011f06 is Tue Mar 03 2026
bacstack: a4ff0c19ff is Sun Jan 25 2156
bacstack: 29 November 2026 is a47e0a1d07
@bacnet-js/client: a47e0b1d07 is Sun Nov 29 2026
@bacnet-js/client: a47e011f06 is Sat Jan 31 2026
@bacnet-js/client: a4ff0c19ff is Mon Jan 01 1900
@bacnet-js/client: 29 November 2026 is a47e0b1d07
bacpypes3: a47e0b1d07 is 2026-11-29 sun
bacpypes3: a47e011f06 is 2026-1-31 sat
bacpypes3: a4ff0c19ff is *-12-25 *
bacpypes3: 29 November 2026 is a47e0b1d07'
printf 'expected: 29 November 2026, 31 January 2026 and each 25 December, and a47e0b1d07 for the first\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
