#!/usr/bin/env bash
# Paths in robots.txt and in addresses may have escapes. "If a percent-encoded ASCII octet is encountered in the URI, it MUST be unencoded prior to comparison", unless it is reserved: /foo/bar/%62%61%7A is /foo/bar/baz. A %2A in a rule is an asterisk of the path, not the pattern *; the longest matching rule wins, and /robots.txt itself may always be read (RFC 9309, sections 2.2.2 and 2.2.3, with these examples).
# One would guess that readers which name the RFC, or call themselves compliant, follow it.
# robots-parser, robots-txt-guard and robots-txt-parser (npm), and gpyrobotstxt (PyPI), a port of Google's reader, compare the escapes as they stand: they tell a crawler that it may fetch baz where the rule has %62%61%7A, or where the address has it, and do not find the asterisk of %2A.
# robots-txt-guard forbids the first page by "Disallow: /" in spite of "Allow: /$", which is longer, and robotspy (PyPI) takes %2A for the pattern and forbids other pages. All of these forbid /robots.txt by "Disallow: /".
# A crawler that wants to respect the file reads pages that the site asked it to leave alone. protego (PyPI) follows the RFC.
# Seen with robots-parser 3.0.1, robots-txt-guard 1.0.2 with robots-txt-parse 2.0.1, robots-txt-parser 2.0.3, gpyrobotstxt 1.0.0, robotspy 0.13.0 and protego 0.7.0.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" robots-parser@3.0.1 robots-txt-guard@1.0.2 robots-txt-parse@2.0.1 robots-txt-parser@2.0.3
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check gpyrobotstxt==1.0.0 robotspy==0.13.0 protego==0.7.0
cat > cases.json <<'JSON'
[
  ["Disallow: /foo/bar/%62%61%7A", "/foo/bar/baz"],
  ["Disallow: /foo/bar/baz", "/foo/bar/%62%61%7A"],
  ["Disallow: /path/file-with-a-%2A.html", "/path/file-with-a-*.html"],
  ["Disallow: /path/file-with-a-%2A.html", "/path/file-with-a-b.html"],
  ["Disallow: /\nAllow: /$", "/"],
  ["Disallow: /", "/robots.txt"]
]
JSON
cat > read.cjs <<'JS'
const { Readable } = require('node:stream')
const robotsParser = require('robots-parser')
const guard = require('robots-txt-guard')
const parse = require('robots-txt-parse')
const robotsTxtParser = require('robots-txt-parser')

const site = 'https://example.com'
const readers = {
  'robots-parser': (text, path) => robotsParser(`${site}/robots.txt`, text).isAllowed(site + path, 'bot'),
  'robots-txt-guard': async (text, path) => guard(await parse(Readable.from([text]))).isAllowed('bot', path),
  'robots-txt-parser': (text, path) => {
    const reader = robotsTxtParser({ allowOnNeutral: true })
    reader.parseRobots(site, text)
    reader.setUserAgent('bot')
    return reader.canCrawlSync(site + path)
  },
}
async function main() {
  for (const [name, allowed] of Object.entries(readers)) {
    const found = []
    for (const [rules, path] of require('./cases.json')) found.push((await allowed(`User-agent: *\n${rules}\n`, path)) ? 'may' : 'must not')
    console.log(`${name}:`, found.join(', '))
  }
}
main()
JS
cat > read.py <<'PY'
import json

import protego
import robots
from gpyrobotstxt.robots_cc import RobotsMatcher

site = 'https://example.com'
readers = {
    'gpyrobotstxt': lambda text, path: RobotsMatcher().one_agent_allowed_by_robots(text.encode(), 'bot', site + path),
    'robotspy': lambda text, path: robots.RobotsParser.from_string(text).can_fetch('bot', site + path),
    'protego': lambda text, path: protego.Protego.parse(text).can_fetch(site + path, 'bot'),
}
for name, allowed in readers.items():
    found = ['may' if allowed(f'User-agent: *\n{rules}\n', path) else 'must not' for rules, path in json.load(open('cases.json'))]
    print(f'{name}:', ', '.join(found))
PY
seen=$(node read.cjs && venv/bin/python read.py)
expected='robots-parser: may, may, may, may, may, must not
robots-txt-guard: may, may, may, may, must not, must not
robots-txt-parser: may, may, may, may, may, must not
gpyrobotstxt: may, may, may, may, may, must not
robotspy: must not, must not, must not, must not, may, must not
protego: must not, must not, must not, may, may, may'
printf 'expected: must not, must not, must not, may, may, may\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
