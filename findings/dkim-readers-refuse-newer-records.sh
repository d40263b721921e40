#!/usr/bin/env bash
# A key of DKIM is a TXT record of tags: blanks may stand around each "=", "Unrecognized tags MUST be ignored" (RFC 6376, section 3.2), and a record without "k" has a key of the type rsa (section 3.6.1). A signature has the same form.
# One would guess that readers of these records, by which scans of domains report weak or missing keys, accept them. dkimpy does.
# dkim-key and dkim-signature (npm) refuse a record with a blank before "=", and one with a tag that is newer than they are: the domain has no key. dkim-key calls a key without "k" one of the type "rsa-sha256": that is the name of an algorithm, not of a type.
# Seen with dkim-key 1.3.0, dkim-signature 1.3.0 and dkimpy 1.1.8.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" dkim-key@1.3.0 dkim-signature@1.3.0
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check dkimpy==1.1.8
printf '%s\n' 'v=DKIM1; k=rsa; p=QUJD' 'v=DKIM1; p=QUJD' 'v=DKIM1; k = rsa; p=QUJD' 'v=DKIM1; k=rsa; new=1; p=QUJD' > keys.txt
printf '%s\n' 'v=1; a=rsa-sha256; d=example.com; s=2026; h=from:to; bh=QUJD; b=REVG' 'v=1; a = rsa-sha256; d=example.com; s=2026; h=from:to; bh=QUJD; b=REVG' \
  'v=1; a=rsa-sha256; d=example.com; s=2026; h=from:to; new=1; bh=QUJD; b=REVG' > signatures.txt
cat > read.cjs <<'JS'
const { readFileSync } = require('fs')
const key = require('dkim-key')
const signature = require('dkim-signature')

for (const [file, read] of [['keys.txt', (text) => key.parse(text).type], ['signatures.txt', (text) => signature.parse(text).algorithm]])
  for (const text of readFileSync(file, 'utf8').trim().split('\n')) {
    let seen
    try {
      seen = read(text)
    } catch (error) {
      seen = `refused, ${error.message}`
    }
    console.log(`npm: ${text}: ${seen}`)
  }
JS
cat > read.py <<'PY'
from dkim.util import parse_tag_value

for name, tag, default in (('keys.txt', b'k', b'rsa'), ('signatures.txt', b'a', None)):
    print(f'dkimpy, {name}:', ', '.join(parse_tag_value(text).get(tag, default).decode() for text in open(name, 'rb')))
PY
seen=$(node read.cjs && venv/bin/python read.py)
expected='npm: v=DKIM1; k=rsa; p=QUJD: rsa
npm: v=DKIM1; p=QUJD: rsa-sha256
npm: v=DKIM1; k = rsa; p=QUJD: refused, Unknown field name "k "
npm: v=DKIM1; k=rsa; new=1; p=QUJD: refused, Unknown field name "new"
npm: v=1; a=rsa-sha256; d=example.com; s=2026; h=from:to; bh=QUJD; b=REVG: rsa-sha256
npm: v=1; a = rsa-sha256; d=example.com; s=2026; h=from:to; bh=QUJD; b=REVG: refused, Unknown field name "a "
npm: v=1; a=rsa-sha256; d=example.com; s=2026; h=from:to; new=1; bh=QUJD; b=REVG: refused, Unknown field name "new"
dkimpy, keys.txt: rsa, rsa, rsa, rsa
dkimpy, signatures.txt: rsa-sha256, rsa-sha256, rsa-sha256'
printf 'expected: rsa for each key, rsa-sha256 for each signature\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
