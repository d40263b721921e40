#!/usr/bin/env bash
# A scan of telephones sends OPTIONS and reads the answer. In SIP an IPv6 host stands in brackets, and the parameter "received" of a Via gives an IPv6 address without them (RFC 5118, sections 4.1 and 4.5); the scheme of an address may have capital letters, header fields may follow it after "?", and a field may go on in the next line after a blank (RFC 3261, sections 19.1.4, 19.1.1 and 7.3.1).
# One would guess that libraries for SIP read an answer with these.
# sip (npm) makes the host "[2001" of a Via with an IPv6 address, drops its port and parameters, and reads no address with an IPv6 host or with capital letters.
# sipmessage (PyPI) reads IPv6 hosts, but refuses "received" as the grammar has it, capital letters and header fields, and the whole message for one line that goes on.
# Seen with sip 0.0.6 and sipmessage 0.7.1.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" sip@0.0.6
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check sipmessage==0.7.1
printf '%s\r\n' 'SIP/2.0 200 OK' 'Via: SIP/2.0/UDP [2001:db8::9:1]:5062;branch=z9hG4bKas3' 'From: <sip:scan@example.com>;tag=1' 'To: <sip:example.com>;tag=2' \
  'Call-ID: 1' 'CSeq: 1 OPTIONS' 'Server: Example' 'Content-Length: 0' '' > plain.txt
sed 's/^Server: Example/Server: Example\r\n  release 2/' plain.txt > folded.txt
sed 's/:5062;/;received=2001:db8::9:255;/' plain.txt > received.txt
printf '%s\n' 'sip:bob@192.0.2.1:5060;transport=tcp' 'sip:bob@[2001:db8::10]:5060;transport=tcp' 'SIP:bob@example.com' 'sip:bob@example.com?subject=project' > addresses.txt
cat > read.cjs <<'JS'
const { readFileSync } = require('fs')
const { parse, parseUri } = require('sip')

for (const name of ['plain', 'received', 'folded']) {
  const { headers } = parse(readFileSync(`${name}.txt`, 'latin1'))
  console.log(`sip, ${name}: ${headers.server.replace(/\s+/g, ' ')}, ${JSON.stringify(headers.via[0])}`)
}
for (const address of readFileSync('addresses.txt', 'utf8').trim().split('\n')) console.log(`sip: ${address} has the host ${parseUri(address)?.host}`)
JS
cat > read.py <<'PY'
from sipmessage import URI, Message

for name in ('plain', 'received', 'folded'):
    try:
        message = Message.parse(open(f'{name}.txt', 'rb').read())
        print(f'sipmessage, {name}: {message.server}, {message.via[0]}')
    except ValueError as error:
        print(f'sipmessage, {name}: {error}')
for address in open('addresses.txt').read().splitlines():
    try:
        print(f'sipmessage: {address} has the host {URI.parse(address).host}')
    except ValueError as error:
        print(f'sipmessage: {address}: {error}')
PY
seen=$(node read.cjs && venv/bin/python read.py)
expected='sip, plain: Example, {"version":"2.0","protocol":"UDP","host":"[2001","params":{}}
sip, received: Example, {"version":"2.0","protocol":"UDP","host":"[2001","params":{}}
sip, folded: Example release 2, {"version":"2.0","protocol":"UDP","host":"[2001","params":{}}
sip: sip:bob@192.0.2.1:5060;transport=tcp has the host 192.0.2.1
sip: sip:bob@[2001:db8::10]:5060;transport=tcp has the host undefined
sip: SIP:bob@example.com has the host undefined
sip: sip:bob@example.com?subject=project has the host example.com
sipmessage, plain: Example, SIP/2.0/UDP [2001:db8::9:1]:5062;branch=z9hG4bKas3
sipmessage, received: Via is not valid
sipmessage, folded: not enough values to unpack (expected 2, got 1)
sipmessage: sip:bob@192.0.2.1:5060;transport=tcp has the host 192.0.2.1
sipmessage: sip:bob@[2001:db8::10]:5060;transport=tcp has the host [2001:db8::10]
sipmessage: SIP:bob@example.com: URI is not valid
sipmessage: sip:bob@example.com?subject=project: URI is not valid'
printf 'expected: three messages with the host [2001:db8::9:1], and the host of each address\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
