#!/usr/bin/env bash
# Certificates write their dates until 2049 with two digits for the year (UTCTime), later ones with four (GeneralizedTime), and 99991231235959Z for no end; a two-digit year of 50 or more is of the last century (RFC 5280, sections 4.1.2.5, 4.1.2.5.1 and 4.1.2.5.2). Certificates of devices and roots often end after 2049.
# One would guess that libraries which read certificates tell when one ends.
# cert-info (npm) reads four digits as two: a certificate that ends on 1 January 2050 "expired" in February 2024, and one without an end ends in 2107. A monitor reports it as expired on its first day.
# cert-info and sshpk (npm) take the year 50 for 2050. sshpk adds the milliseconds of the clock to each date: the same certificate has other dates at each reading, so that a comparison of two inventories finds a change.
# There is no error. certpem, node-forge (npm) and Node itself read all of them.
# Seen with cert-info 1.5.1, sshpk 1.18.0, certpem 1.1.3 and node-forge 1.4.3.
set -euo pipefail
command -v openssl > /dev/null || { echo 'needs openssl' >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" cert-info@1.5.1 sshpk@1.18.0 certpem@1.1.3 node-forge@1.4.3
cat > authority.cnf <<'TXT'
[ca]
default_ca = lab
[lab]
database = index
new_certs_dir = .
default_md = sha256
policy = names
rand_serial = yes
x509_extensions = extensions
[extensions]
subjectAltName = DNS:lab.example
[names]
commonName = supplied
TXT
openssl req -new -newkey rsa:2048 -nodes -keyout key.pem -subj /CN=lab.example -out request.pem 2> /dev/null
for end in 491231235959Z 20500101000000Z 99991231235959Z; do
  : > index
  openssl ca -batch -notext -config authority.cnf -selfsign -keyfile key.pem -in request.pem -startdate 500101000000Z -enddate "$end" -out "$end.pem" 2> log || { cat log >&2; exit 2; }
done
cat > read.cjs <<'JS'
const { X509Certificate } = require('node:crypto')
const { readFileSync } = require('node:fs')

const readers = {
  Node: (pem) => [new X509Certificate(pem)].map(({ validFrom, validTo }) => [validFrom, validTo])[0],
  'cert-info': (pem) => [require('cert-info').info(pem)].map(({ issuedAt, expiresAt }) => [issuedAt, expiresAt])[0],
  sshpk: (pem) => [require('sshpk').parseCertificate(pem, 'pem')].map(({ validFrom, validUntil }) => [validFrom, validUntil])[0],
  certpem: (pem) => [require('certpem').certpem.info(pem)].map(({ issuedAt, expiresAt }) => [issuedAt, expiresAt])[0],
  'node-forge': (pem) => [require('node-forge').pki.certificateFromPem(pem).validity].map(({ notBefore, notAfter }) => [notBefore, notAfter])[0],
}
;(async () => {
  for (const [name, read] of Object.entries(readers))
    for (const end of ['491231235959Z', '20500101000000Z', '99991231235959Z']) {
      const pem = readFileSync(`${end}.pem`, 'utf8')
      const [first] = [read(pem), await new Promise((resolve) => setTimeout(resolve, 20))]
      const second = read(pem)
      const same = first.every((date, index) => Number(new Date(date)) === Number(new Date(second[index])))
      console.log(`${name}: ${first.map((date) => new Date(date).toISOString().slice(0, 10)).join(' to ')}${same ? '' : ', other dates at a second reading'}`)
    }
})()
JS
seen=$(node read.cjs)
expected='Node: 1950-01-01 to 2049-12-31
Node: 1950-01-01 to 2050-01-01
Node: 1950-01-01 to 9999-12-31
cert-info: 2050-01-01 to 2049-12-31
cert-info: 2050-01-01 to 2024-02-01
cert-info: 2050-01-01 to 2107-03-13
sshpk: 2050-01-01 to 2049-12-31, other dates at a second reading
sshpk: 2050-01-01 to 2050-01-01, other dates at a second reading
sshpk: 2050-01-01 to 9999-12-31, other dates at a second reading
certpem: 1950-01-01 to 2049-12-31
certpem: 1950-01-01 to 2050-01-01
certpem: 1950-01-01 to 9999-12-31
node-forge: 1950-01-01 to 2049-12-31
node-forge: 1950-01-01 to 2050-01-01
node-forge: 1950-01-01 to 9999-12-31'
printf 'expected: 1950-01-01 to 2049-12-31, 2050-01-01 and 9999-12-31 from each, at each reading\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
