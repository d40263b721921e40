#!/usr/bin/env bash
# Audits of logins read certificates of SSH. ssh-keygen -V "forever" makes one without an end ("valid before" is the largest number of 64 bits), and its options, such as force-command, hold a string in a string (ssh-keygen(1); PROTOCOL.certkeys of OpenSSH).
# One would guess that libraries for these certificates tell how long one is valid, and its options.
# sshpk (npm) has "Invalid Date" as the end of a certificate without one, and isExpired() is true: an audit counts the most dangerous certificates among the harmless ones.
# sshpk and ssh-certificate-parser (PyPI) leave the length in front of the value of an option, as four bytes of it: no source-address is a network, and a comparison of commands finds none.
# cryptography (PyPI), the module of Python, and ssh-keygen -L read both.
# Seen with sshpk 1.18.0, ssh-certificate-parser 1.6.0, cryptography 46.0.3 and ssh-keygen of OpenSSH 9.2.
set -euo pipefail
command -v ssh-keygen > /dev/null || { echo 'needs ssh-keygen' >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" sshpk@1.18.0
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check ssh-certificate-parser==1.6.0 cryptography==46.0.3
ssh-keygen -q -t ed25519 -N '' -f authority
ssh-keygen -q -t ed25519 -N '' -f key
ssh-keygen -q -s authority -I key -n alice -V always:forever -O source-address=192.0.2.0/24 key.pub
cat > read.cjs <<'JS'
const { readFileSync } = require('node:fs')
const certificate = require('sshpk').parseCertificate(readFileSync('key-cert.pub'), 'openssh')

const [{ name, data }] = certificate.signatures.openssh.exts
console.log('sshpk: until', String(certificate.validUntil), 'expired', certificate.isExpired(), name, JSON.stringify(data.toString()))
JS
cat > read.py <<'PY'
from cryptography.hazmat.primitives.serialization import load_ssh_public_identity
from ssh_certificate_parser import SSHCertificate

text = open('key-cert.pub', 'rb').read()
certificate = SSHCertificate.from_bytes(text)
print('ssh-certificate-parser: until', certificate.valid_before.date(), *map(ascii, certificate.crits))
certificate = load_ssh_public_identity(text)
print('cryptography: until', certificate.valid_before, certificate.critical_options)
PY
seen=$(ssh-keygen -L -f key-cert.pub | grep -E 'Valid:|source-address' | sed 's/^ */ssh-keygen: /' && node read.cjs && venv/bin/python -W ignore read.py)
expected='ssh-keygen: Valid: forever
ssh-keygen: source-address 192.0.2.0/24
sshpk: until Invalid Date expired true source-address "\u0000\u0000\u0000\f192.0.2.0/24"
ssh-certificate-parser: until 9999-12-31 '\''source-address'\'' '\''\x00\x00\x00\x0c192.0.2.0/24'\''
cryptography: until 18446744073709551615 {b'\''source-address'\'': b'\''192.0.2.0/24'\''}'
printf 'expected: no end, and the network 192.0.2.0/24\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
