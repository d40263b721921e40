#!/usr/bin/env bash
# Certificates, LDAP and SNMP name things by object identifiers, such as 2.5.29.17. Their first two numbers are encoded as one, X * 40 + Y, of as many bytes as it needs; only 0, 1 and 2 exist for X, and below 2 there is no limit for Y (X.690, sections 8.19.2 and 8.19.4). 2.25 has the identifiers made of a UUID, of 128 bits; a number in SNMP has up to 32 (RFC 2578, section 3.5).
# One would guess that libraries for ASN.1 return the identifier that stands in the bytes, as openssl and pyasn1 (PyPI) do; node-forge (npm) refuses a UUID.
# asn1 and asn1.js (npm) read 2.999 as 26.39 and 2.48.1 as 3.8.1, which cannot exist, jsrsasign and @fidm/asn1 (npm) and x690 (PyPI), the decoder of puresnmp, as 3.16.55 and 3.9.0.1.
# Numbers of more than 31 bits are negative in asn1, asn1.js and @fidm/asn1, also in 1.3.6.1.4.1, where makers of devices have theirs; jsrsasign rounds a UUID to 17 digits.
# There is no error, and two identifiers may become one: a list of extensions or policies by identifier names others, and finds none of those that it knows. Identifiers below 2.40 with small numbers are right.
# Seen with asn1 0.2.6, asn1.js 5.4.1, jsrsasign 11.1.5, @fidm/asn1 1.0.4, node-forge 1.4.3, x690 1.0.0.post1, pyasn1 0.6.5 and OpenSSL 3.0.
set -euo pipefail
[[ $(openssl version) == 'OpenSSL 3.0.'* ]] || { echo "needs OpenSSL 3.0, found $(openssl version)" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" asn1@0.2.6 asn1.js@5.4.1 jsrsasign@11.1.5 @fidm/asn1@1.0.4 node-forge@1.4.3
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check x690==1.0.0.post1 pyasn1==0.6.5
names=(1.3.6.1.4.1.2021 2.999 2.48.1 1.3.6.1.4.1.4294967295 2.25.329800735698586629295641978511506172918)
for name in "${names[@]}"; do
  openssl asn1parse -genstr "OID:$name" -noout -out "$name.der"
  printf 'openssl: %s' "$name "
  openssl asn1parse -inform DER -in "$name.der" | sed 's/.*OBJECT *://'
done > openssl.txt
cat > read.cjs <<'JS'
const { readFileSync } = require('node:fs')
const asn1 = require('asn1')
const asn1js = require('asn1.js')
const fidm = require('@fidm/asn1')
const forge = require('node-forge')
const jsrsasign = require('jsrsasign')

const Identifier = asn1js.define('Identifier', function () {
  this.objid()
})
const readers = {
  asn1: (der) => new asn1.Ber.Reader(der).readOID(),
  'asn1.js': (der) => Identifier.decode(der, 'der').join('.'),
  '@fidm/asn1': (der) => fidm.ASN1.fromDER(der).value,
  jsrsasign: (der) => jsrsasign.ASN1HEX.hextooidstr(der.subarray(2).toString('hex')),
  'node-forge': (der) => forge.asn1.derToOid(der.subarray(2).toString('binary')),
}
for (const [reader, read] of Object.entries(readers))
  for (const name of process.argv.slice(2)) {
    try {
      console.log(`${reader}: ${name}`, read(readFileSync(`${name}.der`)))
    } catch (error) {
      console.log(`${reader}: ${name}`, error.message)
    }
  }
JS
cat > read.py <<'PY'
import sys

import x690
from pyasn1.codec.der import decoder

for name in sys.argv[1:]:
    with open(f'{name}.der', 'rb') as file:
        der = file.read()
    print(f'x690: {name}', x690.decode(der)[0].value)
    print(f'pyasn1: {name}', decoder.decode(der)[0])
PY
seen=$(cat openssl.txt; node read.cjs "${names[@]}"; venv/bin/python read.py "${names[@]}")
expected='openssl: 1.3.6.1.4.1.2021 1.3.6.1.4.1.2021
openssl: 2.999 2.999
openssl: 2.48.1 2.48.1
openssl: 1.3.6.1.4.1.4294967295 1.3.6.1.4.1.4294967295
openssl: 2.25.329800735698586629295641978511506172918 2.25.329800735698586629295641978511506172918
asn1: 1.3.6.1.4.1.2021 1.3.6.1.4.1.2021
asn1: 2.999 26.39
asn1: 2.48.1 3.8.1
asn1: 1.3.6.1.4.1.4294967295 1.3.6.1.4.1.-1
asn1: 2.25.329800735698586629295641978511506172918 2.25.-920753162
asn1.js: 1.3.6.1.4.1.2021 1.3.6.1.4.1.2021
asn1.js: 2.999 26.39
asn1.js: 2.48.1 3.8.1
asn1.js: 1.3.6.1.4.1.4294967295 1.3.6.1.4.1.-1
asn1.js: 2.25.329800735698586629295641978511506172918 2.25.-920753162
@fidm/asn1: 1.3.6.1.4.1.2021 1.3.6.1.4.1.2021
@fidm/asn1: 2.999 3.16.55
@fidm/asn1: 2.48.1 3.9.0.1
@fidm/asn1: 1.3.6.1.4.1.4294967295 1.3.6.1.4.1.-1
@fidm/asn1: 2.25.329800735698586629295641978511506172918 2.25.-920753162
jsrsasign: 1.3.6.1.4.1.2021 1.3.6.1.4.1.2021
jsrsasign: 2.999 3.16.55
jsrsasign: 2.48.1 3.9.0.1
jsrsasign: 1.3.6.1.4.1.4294967295 1.3.6.1.4.1.4294967295
jsrsasign: 2.25.329800735698586629295641978511506172918 2.25.3.2980073569858662e+38
node-forge: 1.3.6.1.4.1.2021 1.3.6.1.4.1.2021
node-forge: 2.999 2.999
node-forge: 2.48.1 2.48.1
node-forge: 1.3.6.1.4.1.4294967295 1.3.6.1.4.1.4294967295
node-forge: 2.25.329800735698586629295641978511506172918 OID value too large; max is 53-bits.
x690: 1.3.6.1.4.1.2021 1.3.6.1.4.1.2021
pyasn1: 1.3.6.1.4.1.2021 1.3.6.1.4.1.2021
x690: 2.999 3.16.55
pyasn1: 2.999 2.999
x690: 2.48.1 3.9.0.1
pyasn1: 2.48.1 2.48.1
x690: 1.3.6.1.4.1.4294967295 1.3.6.1.4.1.4294967295
pyasn1: 1.3.6.1.4.1.4294967295 1.3.6.1.4.1.4294967295
x690: 2.25.329800735698586629295641978511506172918 2.25.329800735698586629295641978511506172918
pyasn1: 2.25.329800735698586629295641978511506172918 2.25.329800735698586629295641978511506172918'
printf 'expected: each identifier as it stands in front, or an error\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
