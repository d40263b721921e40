#!/usr/bin/env bash
# ssdeep hashes tell how alike two files are, such as two pages or two reports. A hash names its block size, and holds the blocks of twice that size too, so that files of other lengths can be compared.
# One would guess that libraries give the hash and the score of ssdeep.
# ssdeep.js (npm) compares hashes of one block size only: a file and three copies of it in a row have 52 for ssdeep and ppdeep (PyPI), and 0 for ssdeep.js. An edited file has 99 for ssdeep, 100 for ppdeep, and 96.97 for ssdeep.js.
# Its hash of data that repeats has another block size and another second part than that of ssdeep, so lists of hashes do not match.
# A report that groups pages which are alike lists the longer ones apart.
# Seen with ssdeep.js 0.0.3, ppdeep 20260221 and ssdeep 2.14.1 (Debian 12).
set -euo pipefail
found=$(dpkg-query -W -f '${Version}' ssdeep 2> /dev/null || true)
[[ "$found" == 2.14.1+* ]] || { echo "needs the Debian package ssdeep 2.14.1, found ${found:-none}" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" ssdeep.js@0.0.3
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check ppdeep==20260221
mkdir files
python3 -c 'import hashlib
for number in range(100): print(hashlib.sha256(b"%d" % number).hexdigest())' > files/page
cat files/page files/page files/page > files/thrice
sed '50s/.*/another line/' files/page > files/edited
printf 'ab%.0s' {1..2000} > files/repeated
cat > read.cjs <<'JS'
const { readFileSync } = require('node:fs')
const { digest, similarity } = require('ssdeep.js')

const hash = (name) => digest(readFileSync(`files/${name}`, 'latin1'))
for (const other of ['edited', 'thrice']) console.log(`ssdeep.js: page and ${other} ${similarity(hash('page'), hash(other))}`)
console.log('ssdeep.js:', hash('repeated'))
JS
cat > read.py <<'PY'
from ppdeep import compare, hash_from_file

for other in ('edited', 'thrice'):
    print('ppdeep: page and', other, compare(hash_from_file('files/page'), hash_from_file(f'files/{other}')))
print('ppdeep:', hash_from_file('files/repeated'))
PY
seen=$(
  ssdeep -s -b files/page > known
  for other in edited thrice; do ssdeep -s -b -m known -a "files/$other" | sed -n 's/^\([a-z]*\) matches .* (\([0-9]*\))$/ssdeep: page and \1 \2/p'; done
  ssdeep -s -b files/repeated | sed -n '2s/,.*//; 2s/^/ssdeep: /p'
  venv/bin/python read.py
  node read.cjs
)
expected='ssdeep: page and edited 99
ssdeep: page and thrice 52
ssdeep: 3:ui:ui
ppdeep: page and edited 100
ppdeep: page and thrice 52
ppdeep: 3:ui:ui
ssdeep.js: page and edited 96.96969696969697
ssdeep.js: page and thrice 0
ssdeep.js: 6:ui:H'
printf 'expected: the same three values from each\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
