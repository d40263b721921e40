#!/usr/bin/env bash
# Directories are exported as LDIF, which is where audits of accounts begin. RFC 2849 allows an empty value ("0*1(SAFE-STRING)" in its grammar) and so the empty name of the root entry, which each server has; a long comment goes on in the next line after a blank (note 2); "changetype: modify" lists changes with a line "-" after each (example 6).
# One would guess that two readers of LDIF read such a file, as ldapsearch writes it.
# ldif (npm) ends with an error at an empty value, at the root entry and at a folded comment: no entry of the file is read.
# ldif (PyPI) reads these, but ends at a modification, and returns an entry without a name for a "version: 1" with an empty line behind it, as ldapsearch writes one.
# Seen with ldif 0.5.1 (npm) and ldif 4.3.0 (PyPI).
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" ldif@0.5.1
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check ldif==4.3.0
cat > plain.ldif <<'LDIF'
version: 1

dn: cn=Ann,dc=example,dc=com
cn: Ann
LDIF
cat > empty.ldif <<'LDIF'
dn: cn=Ann,dc=example,dc=com
cn: Ann
description:
LDIF
cat > root.ldif <<'LDIF'
dn:
namingContexts: dc=example,dc=com
LDIF
cat > comment.ldif <<'LDIF'
# filter: (cn=A
 nn)
dn: cn=Ann,dc=example,dc=com
cn: Ann
LDIF
cat > modify.ldif <<'LDIF'
dn: cn=Ann,dc=example,dc=com
changetype: modify
add: mail
mail: ann@example.com
-
replace: title
title: Head
-
LDIF
cat > read.cjs <<'JS'
const { readFileSync } = require('fs')
const { parse } = require('ldif')

for (const name of ['plain', 'empty', 'root', 'comment', 'modify'])
  try {
    const { entries } = parse(readFileSync(`${name}.ldif`, 'utf8'))
    console.log(`npm, ${name}: ${entries.map(({ dn }) => `"${dn.dn ?? dn}"`).join(', ')}`)
  } catch (error) {
    console.log(`npm, ${name}: ${error.name}`)
  }
JS
cat > read.py <<'PY'
from ldif import LDIFParser

for name in ('plain', 'empty', 'root', 'comment', 'modify'):
    try:
        names = [f'"{dn}"' for dn, _ in LDIFParser(open(f'{name}.ldif', 'rb')).parse()]
        print(f'PyPI, {name}: {", ".join(names)}')
    except Exception as error:
        print(f'PyPI, {name}: {type(error).__name__}')
PY
seen=$(node read.cjs && venv/bin/python read.py)
expected='npm, plain: "cn=Ann,dc=example,dc=com"
npm, empty: TypeError
npm, root: SyntaxError
npm, comment: SyntaxError
npm, modify: "cn=Ann,dc=example,dc=com"
PyPI, plain: "None", "cn=Ann,dc=example,dc=com"
PyPI, empty: "cn=Ann,dc=example,dc=com"
PyPI, root: ""
PyPI, comment: "cn=Ann,dc=example,dc=com"
PyPI, modify: ValueError'
printf 'expected: one entry of each file\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
