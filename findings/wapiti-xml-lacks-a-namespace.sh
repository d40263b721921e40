#!/usr/bin/env bash
# wapiti writes its report as XML, too. One would guess that a reader of XML can open it.
# A scan without a login has <info name="auth" xsi:nil="true"/>, but nothing declares the prefix xsi. Readers that know namespaces refuse the whole file: Python's ElementTree and lxml do, and an importer that catches the error stores a scan without results.
# The JSON report of the same scan is right.
# Seen with wapiti3 3.2.3 and lxml 5.3.0.
set -euo pipefail
work=$(mktemp -d)
server=
trap '[[ -z "$server" ]] || kill "$server"; rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check wapiti3==3.2.3 lxml==5.3.0
mkdir site
echo '<title>lab</title>' > site/index.html
python3 -u -m http.server 0 --bind 127.0.0.1 --directory site > log 2>&1 &
server=$!
until grep -q 'http://' log; do sleep 0.1; done
url=$(grep -o 'http://[0-9.:]*/' log | head -1)

for form in json xml; do
  HOME=$work timeout 120 venv/bin/wapiti -u "$url" -m csp -f "$form" -o "report.$form" --flush-session > wapiti.log 2>&1
done
cat > read.py <<'PY'
import json
from xml.etree import ElementTree

from lxml import etree

print('json:', sum(len(found) for found in json.load(open('report.json'))['vulnerabilities'].values()), 'weakness')
for name, read in {'ElementTree': ElementTree.parse, 'lxml': etree.parse}.items():
    try:
        print(f'{name}:', len(read('report.xml').findall('.//entry')), 'weakness')
    except SyntaxError as error:
        print(f'{name}:', 'refuses a prefix' if 'refix' in str(error) else error)
PY
seen=$(venv/bin/python read.py)
expected='json: 1 weakness
ElementTree: refuses a prefix
lxml: refuses a prefix'
printf 'wapiti3 3.2.3\nexpected: each reader finds what the JSON report has\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
