#!/usr/bin/env bash
# Certificates name the hosts that they are for: by DNS names, and by IP addresses of 4 or 16 bytes (RFC 5280, section 4.2.1.6). Inventories and scopes are filled from them.
# One would guess that readers of certificates return an address as one reads it.
# cert-info (npm) returns its bytes as text, among the names: 127.0.0.1 becomes four control characters. certpem (npm) returns an object of its decoder. x509.js (npm) drops addresses and mail addresses.
# There is no error: a server that has a certificate for its address is missing, or is a host that no tool can look up. cert-info and certpem put mail addresses among the names too.
# @fidm/x509 (npm), node-forge (npm) 1.4.3 and Node itself read all of them.
# Seen with cert-info 1.5.1, certpem 1.1.3, x509.js 1.0.0 and @fidm/x509 1.2.1.
set -euo pipefail
command -v openssl > /dev/null || { echo 'needs openssl' >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" cert-info@1.5.1 certpem@1.1.3 x509.js@1.0.0 @fidm/x509@1.2.1
openssl req -x509 -newkey rsa:2048 -nodes -days 30 -keyout key.pem -out certificate.pem -subj /CN=lab.example \
  -addext 'subjectAltName=DNS:lab.example,IP:127.0.0.1,IP:2001:db8::1,email:host@lab.example' 2> /dev/null
cat > read.cjs <<'JS'
const { readFileSync } = require('node:fs')

const pem = readFileSync('certificate.pem', 'utf8')
const show = (name, values) => console.log(`${name}:`, values.map((value) => (/^[\w.:@]+$/.test(value) ? value : typeof value === 'string' ? `${value.length} bytes` : typeof value)).join(' '))
show('cert-info', require('cert-info').info(pem).altnames)
show('certpem', require('certpem').certpem.info(pem).altnames)
show('x509.js', require('x509.js').parseCert(pem).altNames)
const { dnsNames, ipAddresses, emailAddresses } = require('@fidm/x509').Certificate.fromPEM(pem)
show('@fidm/x509', [...dnsNames, ...ipAddresses, ...emailAddresses])
JS
seen=$(node read.cjs)
expected='cert-info: lab.example 4 bytes 16 bytes host@lab.example
certpem: lab.example object object host@lab.example
x509.js: lab.example
@fidm/x509: lab.example 127.0.0.1 2001:db8::1 host@lab.example'
printf 'expected: lab.example 127.0.0.1 2001:db8::1, and the mail address apart or not at all\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
