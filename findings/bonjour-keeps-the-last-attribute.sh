#!/usr/bin/env bash
# Printers and other devices describe themselves by DNS-SD, in a TXT record of attributes such as note=Hall. Of a key that occurs twice a client must ignore all but the first, whatever their case, and "key=" is an empty value (RFC 6763, section 6.4).
# One would guess that libraries for DNS-SD return the first value, and the empty one.
# bonjour-service (npm) returns the last of equal keys, keeps keys of another case apart, and makes the key "note=", without a value, of an empty note.
# There is no error. An inventory then has another model, path or note of a printer than the programs that print.
# dns-txt (npm), which reads the record for bonjour (npm), and zeroconf (PyPI) return the first.
# Seen with bonjour-service 1.4.4, dns-txt 2.0.2 and zeroconf 0.154.0.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" dns-txt@2.0.2 bonjour-service@1.4.4
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check zeroconf==0.154.0
cat > read.cjs <<'JS'
const dnsTxt = require('dns-txt')()
const { DnsTxt } = require('bonjour-service/dist/lib/dns-txt')

const attributes = process.argv.slice(2).map((text) => Buffer.from(text))
const show = (name, read) => console.log(`${name}:`, ...Object.entries(read).map(([key, value]) => `${key}: ${JSON.stringify(value)}`))
show('dns-txt', dnsTxt.decode(Buffer.concat(attributes.flatMap((text) => [Buffer.from([text.length]), text]))))
show('bonjour-service', new DnsTxt().decodeAll(attributes))
JS
cat > read.py <<'PY'
import sys

from zeroconf import ServiceInfo

record = b''.join(bytes([len(text)]) + text.encode() for text in sys.argv[1:])
properties = ServiceInfo('_ipp._tcp.local.', 'lab._ipp._tcp.local.', properties=record).properties
print('zeroconf:', *(f'{key.decode()}: "{value.decode()}"' for key, value in properties.items()))
PY
attributes=(path=/first path=/second note=)
seen=$(node read.cjs "${attributes[@]}" && venv/bin/python read.py "${attributes[@]}")
expected='dns-txt: path: "/first" note: ""
bonjour-service: path: "/second" note=: undefined
zeroconf: path: "/first" note: ""'
printf 'expected: path /first and an empty note from each\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
