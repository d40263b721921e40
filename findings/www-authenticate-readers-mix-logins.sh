#!/usr/bin/env bash
# A server offers several ways to log in by one WWW-Authenticate field: challenges stand one after another between commas, and one scheme may occur twice, as Digest does for two algorithms (RFC 9110, section 11.6.1; RFC 7616, section 3.7).
# One would guess that libraries for this field return each challenge with its parameters.
# auth-header (npm) returns the first scheme with the parameters of all challenges; the second scheme is its "token". It refuses a field that begins with a scheme without parameters, such as Negotiate.
# www-authenticate (npm) keeps the last of two Digest challenges, under a mixed name, drops Negotiate before Basic, without an error.
# www-authenticate (PyPI) keeps the last challenge of each scheme, so the weaker algorithm replaces the stronger that the server names first.
# A scanner that logs in by them uses the wrong scheme or algorithm, and reports about logins miss what a server offers.
# Seen with auth-header 1.0.0, www-authenticate 0.6.3 (npm) and www-authenticate 0.9.2 (PyPI).
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" auth-header@1.0.0 www-authenticate@0.6.3
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check www-authenticate==0.9.2
cat > fields.txt <<'TXT'
Negotiate, Basic realm="gate"
Bearer realm="api", Basic realm="gate"
Digest realm="gate", algorithm=SHA-256, nonce="one", Digest realm="gate", algorithm=MD5, nonce="one"
TXT
cat > read.cjs <<'JS'
const { readFileSync } = require('node:fs')
const { parse } = require('auth-header')
const { parsers } = require('www-authenticate')

for (const field of readFileSync('fields.txt', 'utf8').trim().split('\n')) {
  let found
  try {
    found = parse(field)
  } catch (error) {
    found = error.message
  }
  console.log('auth-header:', JSON.stringify(found))
  console.log('www-authenticate of npm:', JSON.stringify(new parsers.WWW_Authenticate(field)))
}
JS
cat > read.py <<'PY'
import json

import www_authenticate

for field in open('fields.txt'):
    print('www-authenticate of PyPI:', json.dumps(dict(www_authenticate.parse(field.strip()))))
PY
seen=$(node read.cjs && venv/bin/python read.py)
expected='auth-header: "Invalid scheme Negotiate,"
www-authenticate of npm: {"scheme":"Basic","parms":{"realm":"gate"}}
auth-header: {"scheme":"Bearer","params":{"realm":["api","gate"]},"token":"Basic"}
www-authenticate of npm: {"scheme":"Bearer","parms":{"realm":"api","Basic realm":"gate"}}
auth-header: {"scheme":"Digest","params":{"realm":["gate","gate"],"algorithm":["SHA-256","MD5"],"nonce":["one","one"]},"token":"Digest"}
www-authenticate of npm: {"scheme":"Digest","parms":{"realm":"gate","algorithm":"MD5","nonce":"one","Digest realm":"gate"}}
www-authenticate of PyPI: {"negotiate": null, "basic": {"realm": "gate"}}
www-authenticate of PyPI: {"bearer": {"realm": "api"}, "basic": {"realm": "gate"}}
www-authenticate of PyPI: {"digest": {"realm": "gate", "algorithm": "MD5", "nonce": "one"}}'
printf 'input:\n%s\nexpected: two challenges for each field\nseen:\n%s\n' "$(cat fields.txt)" "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
