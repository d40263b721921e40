#!/usr/bin/env bash
# A filter of LDAP writes a byte of its value as a backslash and two digits, may have an empty value, and names an attribute by a word or a number, with options. RFC 4515 gives examples of each in section 4; attribute descriptions are those of RFC 4512, section 2.5.
# One would guess that libraries by which audits of directories search read the examples of the RFC.
# @ldapjs/filter (the filters of ldapjs 3) sends backslash and digits as they are, so that a search for a name with a parenthesis finds nothing, and refuses the empty value. ldapts makes one letter of each byte: a search for the escaped "Lučić" asks for "LuÄ\u008diÄ\u0087". Both refuse a numeric attribute and an option.
# ldap-filter (PyPI) has the same letters, ends with an error at \00, makes a plain star of an escaped one, and drops the option: the filter then matches more entries.
# ldapjs is no longer maintained, and still installed a million times a week.
# Seen with ldapts 8.2.0, @ldapjs/filter 2.1.1, @ldapjs/asn1 2.0.0 and ldap-filter 1.0.1 (PyPI).
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" ldapts@8.2.0 @ldapjs/filter@2.1.1 @ldapjs/asn1@2.0.0
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check ldap-filter==1.0.1
cat > filters.txt <<'TXT'
(cn=Babs Jensen)
(seeAlso=)
(o=Parens R Us \28for all your parenthetical needs\29)
(cn=*\2A*)
(filename=C:\5cMyFile)
(bin=\00\00\00\04)
(sn=Lu\c4\8di\c4\87)
(1.3.6.1.4.1.1466.0=\04\02\48\69)
(title;lang-de=Leiterin)
TXT
cat > read.cjs <<'JS'
const { readFileSync } = require('fs')
const { BerWriter } = require('@ldapjs/asn1')
const { parseString } = require('@ldapjs/filter')
const { FilterParser } = require('ldapts')

const libraries = {
  ldapts(text) {
    const writer = new BerWriter()
    FilterParser.parseString(text).write(writer)
    return writer.buffer
  },
  '@ldapjs/filter': (text) => parseString(text).toBer().buffer,
}
// The value is the last element of the bytes that the server gets: a length of one byte stands before it.
const valueOf = (bytes) => {
  let at = 4 + bytes[3]
  if (bytes[0] === 0xa4) at += 2
  return bytes.subarray(at + 2).toString()
}
for (const [name, bytesOf] of Object.entries(libraries))
  for (const text of readFileSync('filters.txt', 'utf8').trim().split('\n'))
    try {
      console.log(`${name}: ${text} asks for ${JSON.stringify(valueOf(bytesOf(text)))}`)
    } catch (error) {
      console.log(`${name}: ${text} is refused`)
    }
JS
cat > read.py <<'PY'
import json

from ldap_filter import Filter

for text in open('filters.txt').read().splitlines():
    try:
        read = Filter.parse(text)
        print(f'ldap-filter: {text} asks {read.attr} for {json.dumps(read.val)}')
    except Exception as error:
        print(f'ldap-filter: {text} is refused ({type(error).__name__})')
PY
seen=$(node read.cjs && venv/bin/python read.py)
expected='ldapts: (cn=Babs Jensen) asks for "Babs Jensen"
ldapts: (seeAlso=) asks for ""
ldapts: (o=Parens R Us \28for all your parenthetical needs\29) asks for "Parens R Us (for all your parenthetical needs)"
ldapts: (cn=*\2A*) asks for "*"
ldapts: (filename=C:\5cMyFile) asks for "C:\\MyFile"
ldapts: (bin=\00\00\00\04) asks for "\u0000\u0000\u0000\u0004"
ldapts: (sn=Lu\c4\8di\c4\87) asks for "LuÄiÄ"
ldapts: (1.3.6.1.4.1.1466.0=\04\02\48\69) is refused
ldapts: (title;lang-de=Leiterin) is refused
@ldapjs/filter: (cn=Babs Jensen) asks for "Babs Jensen"
@ldapjs/filter: (seeAlso=) is refused
@ldapjs/filter: (o=Parens R Us \28for all your parenthetical needs\29) asks for "Parens R Us \\28for all your parenthetical needs\\29"
@ldapjs/filter: (cn=*\2A*) asks for "\\2a"
@ldapjs/filter: (filename=C:\5cMyFile) asks for "C:\\5cMyFile"
@ldapjs/filter: (bin=\00\00\00\04) asks for "\\00\\00\\00\\04"
@ldapjs/filter: (sn=Lu\c4\8di\c4\87) asks for "Lu\\c4\\8di\\c4\\87"
@ldapjs/filter: (1.3.6.1.4.1.1466.0=\04\02\48\69) is refused
@ldapjs/filter: (title;lang-de=Leiterin) is refused
ldap-filter: (cn=Babs Jensen) asks cn for "Babs Jensen"
ldap-filter: (seeAlso=) is refused (ParseError)
ldap-filter: (o=Parens R Us \28for all your parenthetical needs\29) asks o for "Parens R Us (for all your parenthetical needs)"
ldap-filter: (cn=*\2A*) asks cn for "***"
ldap-filter: (filename=C:\5cMyFile) asks filename for "C:\\MyFile"
ldap-filter: (bin=\00\00\00\04) is refused (ValueError)
ldap-filter: (sn=Lu\c4\8di\c4\87) asks sn for "Lu\u00c4\u008di\u00c4\u0087"
ldap-filter: (1.3.6.1.4.1.1466.0=\04\02\48\69) asks 1.3.6.1.4.1.1466.0 for "\u0004\u0002Hi"
ldap-filter: (title;lang-de=Leiterin) asks title for "Leiterin"'
printf 'expected: the bytes that the digits stand for, and no refusal\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
