#!/usr/bin/env bash
# A DMARC record tells what receivers shall do with forged mail, and whom to tell. Its "fo" is a list with colons (fo=1:d:s), an address for reports may have a limit of their size (mailto:a@example.com!10m), and readers must ignore tags that they do not know (RFC 7489, sections 6.2 and 6.3), as RFC 9091 added "np" (section 3.2).
# One would guess that readers of these records, by which scans of domains tell who is protected, accept them.
# dmarc-parse (npm) drops "fo" when it has more than one option. dmarc-solution (npm) refuses the whole record for a limit of size, and for each tag that is newer than it: a domain with "p=reject; np=reject" has no policy for it.
# A report calls such domains wrong or unprotected; the simplest records are right in both.
# Seen with dmarc-parse 1.2.1 and dmarc-solution 1.2.5.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" dmarc-parse@1.2.1 dmarc-solution@1.2.5
cat > read.cjs <<'JS'
const parse = require('dmarc-parse')
const solution = require('dmarc-solution')

const records = [
  'v=DMARC1; p=none; fo=1:d:s',
  'v=DMARC1; p=none; rua=mailto:a@example.com!10m',
  'v=DMARC1; p=reject; np=reject',
]
const show = (tags) => Object.entries(tags).map(([tag, { value }]) => `${tag}=${value}`).join('; ')
;(async () => {
  for (const record of records) {
    const { tags, messages = [] } = parse(record)
    console.log('dmarc-parse:', show(tags), ...messages.map((message) => `[${message}]`))
  }
  for (const record of records) console.log('dmarc-solution:', await solution.parse(record).then(show, (error) => `[${error.message}]`))
})()
JS
seen=$(node read.cjs)
expected='dmarc-parse: v=DMARC1; p=none [Invalid value for '\''fo'\'': '\''1:d:s'\'', must be one of: 0, 1, d, s]
dmarc-parse: v=DMARC1; p=none; rua=mailto:a@example.com!10m
dmarc-parse: v=DMARC1; p=reject [Unknown tag '\''np'\'']
dmarc-solution: v=DMARC1; p=none; fo=1:d:s
dmarc-solution: [Invalid email address in '\''rua'\'': '\''a@example.com!10m'\'']
dmarc-solution: [Unknown tag '\''np'\'']'
printf 'expected: all tags of each record, but np\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
