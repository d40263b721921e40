#!/usr/bin/env bash
# Subjects of certificates and entries of directories have distinguished names. In their text a blank at the start or end of a value is written "\ ", bytes of UTF-8 as pairs of digits, as in CN=Lu\C4\8Di\C4\87 (RFC 4514, sections 2.4, 3 and 4), and "#" needs no escape but at the start.
# One would guess that libraries for these names return the values.
# @ldapjs/dn (npm) and distinguishedname (PyPI) drop the escaped blanks: another entry is asked for. cryptography and distinguishedname (PyPI) and rfc2253 (npm) read each byte of UTF-8 as a letter. For rfc2253 "#" begins a number in digits, with the comma behind it: two values become one.
# There is no error. A search for the owner of a certificate finds none, or another entry.
# LdapName of Java returns the values.
# Seen with @ldapjs/dn 1.1.0, rfc2253 0.2.0, distinguishedname 1.0.2 cryptography 46.0.3 and Java 17.
set -euo pipefail
command -v java > /dev/null || { echo 'needs java' >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" @ldapjs/dn@1.1.0 rfc2253@0.2.0
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check distinguishedname==1.0.2 cryptography==46.0.3
cat > names.txt <<'TXT'
CN=\ Lab\ ,O=Example
CN=Lu\C4\8Di\C4\87,O=Example
CN=Lab #7,O=Example
TXT
cat > read.cjs <<'JS'
const { readFileSync } = require('node:fs')
const { DN } = require('@ldapjs/dn')
const rfc2253 = require('rfc2253')

const names = readFileSync('names.txt', 'utf8').trim().split('\n')
const show = (name, parts) => console.log(`${name}:`, parts.replace(/[^ -~]/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`))
for (const name of names) show('@ldapjs/dn', DN.fromString(name).toString())
for (const name of names) show('rfc2253', rfc2253.parse(name).toString())
JS
cat > read.py <<'PY'
import json

from cryptography import x509
from distinguishedname import string_to_dn

names = open('names.txt').read().splitlines()
for name in names:
    print('distinguishedname:', json.dumps(string_to_dn(name)))
for name in names:
    print('cryptography:', json.dumps([part.value for part in x509.Name.from_rfc4514_string(name)][::-1]))
PY
cat > Read.java <<'JAVA'
import java.nio.file.Files;
import java.nio.file.Path;
import javax.naming.ldap.LdapName;

class Read {
    public static void main(String[] arguments) throws Exception {
        for (var name : Files.readAllLines(Path.of("names.txt"))) {
            var value = new StringBuilder();
            for (var letter : new LdapName(name).getRdn(1).getValue().toString().toCharArray()) value.append(letter < 128 ? "" + letter : String.format("\\u%04x", (int) letter));
            System.out.println("LdapName: \"" + value + "\"");
        }
    }
}
JAVA
seen=$(node read.cjs && venv/bin/python read.py && java Read.java)
expected='@ldapjs/dn: CN=Lab,O=Example
@ldapjs/dn: CN=Lu\c4\8di\c4\87,O=Example
@ldapjs/dn: CN=Lab #7,O=Example
rfc2253: CN= Lab , O=Example
rfc2253: CN=Lu\u00c4\u008di\u00c4\u0087, O=Example
rfc2253: CN=Lab \u007O=Example
distinguishedname: [["CN=Lab"], ["O=Example"]]
distinguishedname: [["CN=Lu\u00c4\u008di\u00c4\u0087"], ["O=Example"]]
distinguishedname: [["CN=Lab #7"], ["O=Example"]]
cryptography: [" Lab ", "Example"]
cryptography: ["Lu\u00c4\u008di\u00c4\u0087", "Example"]
cryptography: ["Lab #7", "Example"]
LdapName: " Lab "
LdapName: "Lu\u010di\u0107"
LdapName: "Lab #7"'
printf 'expected: the values of LdapName from each\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
