#!/usr/bin/env bash
# robots.txt has groups: one or more User-agent lines and their rules. Groups of one agent are joined (RFC 9309, section 2.2.1), and other lines, such as Crawl-delay, must not interfere: "a Sitemaps record MUST NOT terminate a group" (section 2.2.4).
# One would guess that readers apply the rules to all agents of a group.
# A Crawl-delay line between two User-agent lines ends the group for protego (PyPI), robots-parser, robots-txt-guard and robots-txt-parser (npm): they tell the first agent that it may fetch everything. A Sitemap line does it for the three of npm.
# robots-txt-guard takes the first of two groups of an agent, and forgets the second.
# A crawler that wants to respect the file reads pages that the site asked it to leave alone. fast-robotstxt (PyPI), a binding of Google's reader, follows the RFC.
# Seen with protego 0.7.0, robots-parser 3.0.1, robots-txt-guard 1.0.2 with robots-txt-parse 2.0.1, robots-txt-parser 2.0.3 and fast-robotstxt 1.1.0.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" robots-parser@3.0.1 robots-txt-guard@1.0.2 robots-txt-parse@2.0.1 robots-txt-parser@2.0.3
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check protego==0.7.0 fast-robotstxt==1.1.0
cat > robots.txt <<'TXT'
User-agent: slow
Crawl-delay: 5
User-agent: fast
Disallow: /a

User-agent: old
Sitemap: https://example.com/sitemap.xml
User-agent: new
Disallow: /a

User-agent: twice
Disallow: /b

User-agent: twice
Disallow: /a
TXT
cat > read.cjs <<'JS'
const { readFileSync } = require('node:fs')
const { Readable } = require('node:stream')
const robotsParser = require('robots-parser')
const guard = require('robots-txt-guard')
const parse = require('robots-txt-parse')
const robotsTxtParser = require('robots-txt-parser')

const text = readFileSync('robots.txt', 'utf8')
const url = 'https://example.com/a'
parse(Readable.from([text])).then((rules) => {
  const other = robotsTxtParser({ allowOnNeutral: true })
  other.parseRobots('https://example.com', text)
  const readers = {
    'robots-parser': (agent) => robotsParser('https://example.com/robots.txt', text).isAllowed(url, agent),
    'robots-txt-guard': (agent) => guard(rules).isAllowed(agent, '/a'),
    'robots-txt-parser': (agent) => {
      other.setUserAgent(agent)
      return other.canCrawlSync(url)
    },
  }
  for (const [name, allowed] of Object.entries(readers))
    console.log(`${name}:`, ['slow', 'fast', 'old', 'new', 'twice'].map((agent) => `${agent} ${allowed(agent) ? 'may' : 'must not'}`).join(', '))
})
JS
cat > read.py <<'PY'
import protego
import robotstxt

text = open('robots.txt').read()
url = 'https://example.com/a'
readers = {
    'protego': lambda agent: protego.Protego.parse(text).can_fetch(url, agent),
    'fast-robotstxt': lambda agent: robotstxt.RobotsMatcher().is_allowed(text, agent, url),
}
for name, allowed in readers.items():
    print(f'{name}:', ', '.join(f'{agent} {"may" if allowed(agent) else "must not"}' for agent in ('slow', 'fast', 'old', 'new', 'twice')))
PY
seen=$(node read.cjs && venv/bin/python read.py)
expected='robots-parser: slow may, fast must not, old may, new must not, twice must not
robots-txt-guard: slow may, fast must not, old may, new must not, twice may
robots-txt-parser: slow may, fast must not, old may, new must not, twice must not
protego: slow may, fast must not, old must not, new must not, twice must not
fast-robotstxt: slow must not, fast must not, old must not, new must not, twice must not'
printf 'expected: "must not" each time\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
