#!/usr/bin/env bash
# Gemfile.lock lists a gem with native code once for each platform: nokogiri (1.15.4), nokogiri (1.15.4-x86_64-linux), nokogiri (1.15.4-java). The file may have several GIT and PATH sections.
# One would guess that a reader for it returns one gem nokogiri, or one for each platform.
# @snyk/gemfile (npm) gives the name to the last, with the platform in its version, and names the others nokogiri0 and nokogiri1: gems that do not exist. The first of two GIT sections becomes GIT0.
# An inventory made of it has gems for which no database knows a weakness, and a version of nokogiri, 1.15.4-java, that a comparison of versions may not read.
# Gems without platforms are right, so the fault shows in some projects only.
# Seen with @snyk/gemfile 1.3.0.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" @snyk/gemfile@1.3.0
cat > Gemfile.lock <<'TXT'
GIT
  remote: https://git.example.com/one.git
  revision: 1111111111111111111111111111111111111111
  specs:
    one (1.0.0)

GIT
  remote: https://git.example.com/two.git
  revision: 2222222222222222222222222222222222222222
  specs:
    two (2.0.0)

GEM
  remote: https://rubygems.example.org/
  specs:
    nokogiri (1.15.4)
      racc (~> 1.4)
    nokogiri (1.15.4-x86_64-linux)
      racc (~> 1.4)
    nokogiri (1.15.4-java)
    racc (1.7.1)

PLATFORMS
  java
  ruby
  x86_64-linux

DEPENDENCIES
  nokogiri
  one!
  two!

BUNDLED WITH
   2.4.10
TXT
cat > read.cjs <<'JS'
const { readFileSync } = require('node:fs')

const found = require('@snyk/gemfile').interpret(readFileSync('Gemfile.lock', 'utf8'))
for (const [section, { specs }] of Object.entries(found))
  if (specs) console.log(`${section}:`, Object.entries(specs).map(([name, { version }]) => `${name} ${version}`).join(', '))
JS
seen=$(node read.cjs)
expected='GIT: two 2.0.0
GIT0: one 1.0.0
GEM: nokogiri 1.15.4-java, nokogiri0 1.15.4, nokogiri1 1.15.4-x86_64-linux, racc 1.7.1'
printf 'expected: one 1.0.0 and two 2.0.0 of GIT, nokogiri three times and racc of GEM\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
