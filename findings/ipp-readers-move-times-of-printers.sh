#!/usr/bin/env bash
# Printers tell their clock and the times of their jobs by IPP as dateTime: year, month, day, hour, minute, second, tenths, and the offset from UTC (RFC 8010, section 3.9; DateAndTime of RFC 2579). A text may name its language, and a range is two numbers (same section).
# One would guess that readers of IPP return the time that the printer sent.
# ipp (npm) returns the next month, and does not apply the offset: 3:04 on 2 January in India becomes 3:04 UTC on 2 February, 32 days later. ipp-encoder (npm) applies the offset backwards, 11 hours later.
# ipp and @sealsystems/ipp (npm) return the language and a control character before a text with a language. ipp-encoder leaves the bytes of a range.
# There is no error. A check of clocks, or a list of jobs by time, is wrong for every printer, or for those outside UTC.
# @sealsystems/ipp and pyipp (PyPI) return the time, and pyipp all three values.
# Seen with ipp 2.0.1, ipp-encoder 5.0.0, @sealsystems/ipp 2.8.2 and pyipp 0.17.2.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" ipp@2.0.1 ipp-encoder@5.0.0 @sealsystems/ipp@2.8.2
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pyipp==0.17.2
cat > write.py <<'PY'
from struct import pack


def attribute(tag, name, value):
    return pack('>BH', tag, len(name)) + name + pack('>H', len(value)) + value


open('answer.bin', 'wb').write(
    pack('>BBHIB', 2, 0, 0, 1, 1)
    + attribute(0x47, b'attributes-charset', b'utf-8')
    + attribute(0x48, b'attributes-natural-language', b'en')
    + b'\x04'
    + attribute(0x35, b'printer-info', pack('>H', 2) + b'en' + pack('>H', 4) + b'Hall')
    + attribute(0x33, b'copies-supported', pack('>ii', 1, 99))
    + attribute(0x31, b'printer-current-time', pack('>HBBBBBBcBB', 2026, 1, 2, 3, 4, 5, 0, b'+', 5, 30))
    + b'\x03'
)
PY
python3 write.py
cat > read.cjs <<'JS'
const { readFileSync } = require('node:fs')

const answer = readFileSync('answer.bin')
const show = (name, time, info, copies) => console.log(`${name}:`, new Date(time).toISOString(), ...[info, copies].map((value) => JSON.stringify(value)))
for (const name of ['ipp', '@sealsystems/ipp']) {
  const printer = require(name).parse(answer)['printer-attributes-tag']
  show(name, printer['printer-current-time'], printer['printer-info'], printer['copies-supported'])
}
const { attributes } = require('ipp-encoder').response.decode(answer).groups[1]
const value = (wanted) => attributes.find(({ name }) => name === wanted).value[0]
show('ipp-encoder', value('printer-current-time'), value('printer-info'), value('copies-supported'))
JS
cat > read.py <<'PY'
import json
from datetime import timezone

from pyipp.parser import parse

printer = parse(open('answer.bin', 'rb').read())['printers'][0]
print('pyipp:', printer['printer-current-time'].astimezone(timezone.utc).isoformat(), json.dumps(printer['printer-info']), json.dumps(printer['copies-supported']))
PY
seen=$(node read.cjs 2> /dev/null && venv/bin/python read.py)
expected='ipp: 2026-02-02T03:04:05.000Z "en\u001eHall" [1,99]
@sealsystems/ipp: 2026-01-01T21:34:05.000Z "en\u001eHall" [1,99]
ipp-encoder: 2026-01-02T08:34:05.000Z {"lang":"en","value":"Hall"} "\u0000\u0000\u0000\u0001\u0000\u0000\u0000c"
pyipp: 2026-01-01T21:34:05+00:00 "Hall" [1, 99]'
printf 'expected: 2026-01-01T21:34:05 UTC, Hall, and 1 and 99 from each\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
