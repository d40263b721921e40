#!/usr/bin/env bash
# Audits of websites ask how long an answer may be kept. Directives of Cache-Control are compared without regard to case, and "recipients ought to accept both forms" of an argument, max-age=60 and max-age="60" (RFC 9111, section 5.2); empty members of the list must be ignored (RFC 9110, section 5.6.1.2).
# One would guess that libraries for the field find its lifetime.
# parse-cache-control (npm) finds no max-age in "Max-Age=60, No-Store", and no no-store; for an empty member it returns nothing at all.
# cache-parser and cache-control-parser (npm) lose a lifetime in quotes.
# There is no error: an answer that must not be stored is reported as one without a rule, or the other way round.
# @tusbar/cache-control (npm) reads all of them.
# Seen with parse-cache-control 1.0.1, cache-parser 1.2.6, cache-control-parser 2.2.0 and @tusbar/cache-control 3.0.1.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" parse-cache-control@1.0.1 cache-parser@1.2.6 cache-control-parser@2.2.0 @tusbar/cache-control@3.0.1
cat > read.mjs <<'JS'
import cacheControl from 'cache-control-parser'
import { parse as cacheParser } from 'cache-parser'
import parseCacheControl from 'parse-cache-control'
import { parse as tusbar } from '@tusbar/cache-control'

const readers = {
  'parse-cache-control': (field) => [parseCacheControl(field)].map((found) => [found?.['max-age'], found?.['no-store']])[0],
  'cache-parser': (field) => [cacheParser(field)].map(({ maxAge, noStore }) => [maxAge, noStore])[0],
  'cache-control-parser': (field) => [cacheControl.parse(field)].map((found) => [found['max-age'], found['no-store']])[0],
  '@tusbar/cache-control': (field) => [tusbar(field)].map(({ maxAge, noStore }) => [maxAge, noStore])[0],
}
for (const [name, read] of Object.entries(readers))
  for (const field of ['max-age=60, no-store', 'Max-Age=60, No-Store', 'max-age="60", no-store', 'max-age=60,, no-store']) {
    const [age, store] = read(field)
    console.log(`${name}: ${field}: ${age ?? 'no lifetime'}${store ? ', not stored' : ''}`)
  }
JS
seen=$(node read.mjs)
expected='parse-cache-control: max-age=60, no-store: 60, not stored
parse-cache-control: Max-Age=60, No-Store: no lifetime
parse-cache-control: max-age="60", no-store: 60, not stored
parse-cache-control: max-age=60,, no-store: no lifetime
cache-parser: max-age=60, no-store: 60, not stored
cache-parser: Max-Age=60, No-Store: 60, not stored
cache-parser: max-age="60", no-store: no lifetime, not stored
cache-parser: max-age=60,, no-store: 60, not stored
cache-control-parser: max-age=60, no-store: 60, not stored
cache-control-parser: Max-Age=60, No-Store: 60, not stored
cache-control-parser: max-age="60", no-store: no lifetime, not stored
cache-control-parser: max-age=60,, no-store: 60, not stored
@tusbar/cache-control: max-age=60, no-store: 60, not stored
@tusbar/cache-control: Max-Age=60, No-Store: 60, not stored
@tusbar/cache-control: max-age="60", no-store: 60, not stored
@tusbar/cache-control: max-age=60,, no-store: 60, not stored'
printf 'expected: 60, not stored from each\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
