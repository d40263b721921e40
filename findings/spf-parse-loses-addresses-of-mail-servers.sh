#!/usr/bin/env bash
# Reports about the mail of a domain list who may send for it, by its SPF record. "a" and "mx" take a prefix length for IPv4, one for IPv6 behind two slashes, or both (RFC 7208, sections 5.3, 5.4 and 12), and a modifier that a reader does not know must be ignored (section 6).
# One would guess that a parser for SPF knows these forms, or calls the record invalid.
# spf-parse (npm) knows neither length: "a//64" and "mx/24//64" become terms without a type, and the record is valid. With a name, the lengths become a part of it: mail.example.com/24//64.
# An unknown modifier is an error among its messages. "v=spf10", which is no SPF record (section 4.5), is a valid one.
# A list of senders that is made from the types lacks the two networks. pyspf (PyPI) reads all three.
# Seen with spf-parse 1.0.4 and pyspf 2.0.14.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" spf-parse@1.0.4
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pyspf==2.0.14 dnspython==2.9.2
cat > records.txt <<'TXT'
v=spf1 a//64 mx/24//64 -all
v=spf1 a:mail.example.com/24//64 -all
v=spf1 ip4:192.0.2.1 report=off -all
v=spf10 ip4:192.0.2.1 -all
TXT
cat > read.cjs <<'JS'
const { readFileSync } = require('node:fs')
const parse = require('spf-parse')

for (const record of readFileSync('records.txt', 'utf8').trim().split('\n')) {
  const { valid, mechanisms, messages = [] } = parse(record)
  console.log('spf-parse:', valid ? 'valid,' : 'invalid,', ...mechanisms.slice(1).map(({ type, value }) => [type, value].filter(Boolean).join('=') || '(no type)'), ...messages.map(({ message }) => `[${message}]`))
}
JS
cat > read.py <<'PY'
import spf

for record in open('records.txt'):
    version, *terms = record.split()
    if version == 'v=spf1':
        print('pyspf:', *(spf.parse_mechanism(term, 'example.com') for term in terms if '=' not in term))
PY
seen=$(node read.cjs && venv/bin/python read.py)
expected='spf-parse: valid, (no type) (no type) all [Unknown standalone term '\''a//64'\''] [Unknown standalone term '\''mx/24//64'\'']
spf-parse: valid, a=mail.example.com/24//64 all
spf-parse: valid, ip4=192.0.2.1 (no type) all [Unknown standalone term '\''report=off'\'']
spf-parse: valid, ip4=192.0.2.1 all
pyspf: ('\''a'\'', '\''example.com'\'', None, 64) ('\''mx'\'', '\''example.com'\'', 24, 64) ('\''-all'\'', '\''example.com'\'', None, None)
pyspf: ('\''a'\'', '\''mail.example.com'\'', 24, 64) ('\''-all'\'', '\''example.com'\'', None, None)
pyspf: ('\''ip4'\'', '\''192.0.2.1'\'', None, None) ('\''-all'\'', '\''example.com'\'', None, None)'
printf 'expected: a and mx with their lengths, no error for report=off, no valid v=spf10\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
