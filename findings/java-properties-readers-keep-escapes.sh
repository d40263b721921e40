#!/usr/bin/env bash
# Java programs, and scanners such as the one of SonarQube, are configured by .properties files. A key ends at "=", ":" or a blank, a line that begins with "!" is a comment, a backslash escapes the next character, two at the end of a line are one and do not join it to the next, and blanks at the end belong to the value (java.util.Properties, load(Reader)).
# One would guess that libraries which read "Java .properties files" return what Java reads.
# java-properties (npm) knows only "=" and ":", makes a key of the whole line for a blank and for "!", and splits a key at an escaped colon. pyjavaproperties3 (PyPI), a "replacement for java.util.Properties", leaves the escapes in paths. Both join the two lines, and cut blanks of a password.
# There is no error: a setting is missing or has another value than the program that is checked.
# javaproperties (PyPI) returns what Java reads.
# Seen with java-properties 1.0.2, pyjavaproperties3 0.6, javaproperties 0.8.2 and Java 17.
set -euo pipefail
command -v java > /dev/null || { echo 'needs java' >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" java-properties@1.0.2
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pyjavaproperties3==0.6 javaproperties==0.8.2
cat > lab.properties <<'TXT'
host=lab.example
! settings of the lab
verify   true
listen\:port = 8443
store=C:\\keys
last=lab\\
next=on
TXT
printf 'password=abc  \n' >> lab.properties
cat > Read.java <<'JAVA'
import java.io.FileReader;
import java.util.Properties;
import java.util.TreeMap;

class Read {
    public static void main(String[] arguments) throws Exception {
        var properties = new Properties();
        properties.load(new FileReader("lab.properties"));
        System.out.println("Java: " + new TreeMap<>(properties));
    }
}
JAVA
cat > read.cjs <<'JS'
const values = require('java-properties').of('lab.properties')
console.log('java-properties:', JSON.stringify(Object.fromEntries(values.getKeys().sort().map((key) => [key, values.get(key)]))))
JS
cat > read.py <<'PY'
import json

import javaproperties
from pyjavaproperties3 import Properties

properties = Properties()
properties.load(open('lab.properties'))
print('pyjavaproperties3:', json.dumps(properties.getPropertyDict(), sort_keys=True))
print('javaproperties:', json.dumps(javaproperties.load(open('lab.properties', 'rb')), sort_keys=True))
PY
seen=$(java Read.java && node read.cjs && venv/bin/python read.py)
expected='Java: {host=lab.example, last=lab\, listen:port=8443, next=on, password=abc  , store=C:\keys, verify=true}
java-properties: {"! settings of the lab":"","host":"lab.example","last":"lab\next=on","listen\\":"port = 8443","password":"abc","store":"C:\\keys","verify   true":""}
pyjavaproperties3: {"host": "lab.example", "last": "lab\\next=on", "listen:port": "8443", "password": "abc", "store": "C:\\\\keys", "verify": "true"}
javaproperties: {"host": "lab.example", "last": "lab\\", "listen:port": "8443", "next": "on", "password": "abc  ", "store": "C:\\keys", "verify": "true"}'
printf 'expected: the values of Java from each\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
