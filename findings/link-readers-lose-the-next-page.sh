#!/usr/bin/env bash
# APIs name the next page of a list by the Link field: <URL>; rel="next". A reader compares names of parameters and relations without regard to case, accepts blanks around "=" and parameters without a value, and takes the first of two "rel" (RFC 8288, sections 2.1.1, 3 and 3.3, and appendix B.3).
# One would guess that libraries for this field find the next page, whatever form a server chooses.
# http-link-header (npm) loses the relation behind a parameter without a value; parse-link-header (npm) in upper case, behind blanks, and where a second "rel" follows; linkheader-parser (PyPI) in upper case, without quotes and behind blanks.
# There is no error: a client takes the first page for the whole list, so an inventory or a list of findings that is read by pages is short.
# weblinking (PyPI) reads all forms.
# Seen with http-link-header 1.1.4, parse-link-header 2.0.0, linkheader-parser 0.6 and weblinking 1.0.0.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" http-link-header@1.1.4 parse-link-header@2.0.0
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check linkheader-parser==0.6 weblinking==1.0.0
cat > fields.txt <<'TXT'
<https://a.example/2>; rel="next"
<https://a.example/2>; rel=next
<https://a.example/2>; REL="next"
<https://a.example/2>; rel="Next"
<https://a.example/2>; rel = "next"
<https://a.example/2>; crossorigin; rel="next"
<https://a.example/2>; rel="next"; rel="prev"
TXT
cat > read.cjs <<'JS'
const { readFileSync } = require('node:fs')
const header = require('http-link-header')
const parse = require('parse-link-header')

const fields = readFileSync('fields.txt', 'utf8').trim().split('\n')
const answers = (find) => fields.map((field) => (find(field) ? 'found' : 'lost')).join(' ')
console.log('http-link-header:', answers((field) => header.parse(field).rel('next').length > 0))
console.log('parse-link-header:', answers((field) => parse(field)?.next))
JS
cat > read.py <<'PY'
import linkheader_parser
import weblinking

fields = open('fields.txt').read().splitlines()


def answers(find):
    return ' '.join('found' if find(field) else 'lost' for field in fields)


print('linkheader-parser:', answers(lambda field: 'next' in linkheader_parser.parse(field)))
print('weblinking:', answers(lambda field: weblinking.find(weblinking.parse(field), 'next')))
PY
seen=$(node read.cjs && venv/bin/python read.py)
expected='http-link-header: found found found found found lost found
parse-link-header: found found lost lost lost found lost
linkheader-parser: found lost lost lost lost found found
weblinking: found found found found found found found'
printf 'input:\n%s\nexpected: all found by each\nseen:\n%s\n' "$(cat fields.txt)" "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
