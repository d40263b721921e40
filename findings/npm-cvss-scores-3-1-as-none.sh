#!/usr/bin/env bash
# The npm package cvss parses vectors and gives scores; one would guess that it knows CVSS 3.1, the version of nearly all advisories, or refuses it.
# It only knows the prefix CVSS:3.0. A vector of 3.1 is no error: its score is 0 and its rating is None.
# The same metrics with the prefix CVSS:3.0 give 9.8.
# A report that is sorted or filtered by this score loses its critical findings.
# Seen with cvss 1.0.5.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
npm install --silent --no-audit --no-fund --prefix "$work" cvss@1.0.5

cat > "$work/score.cjs" <<'JS'
const cvss = require('cvss')
for (const version of ['3.0', '3.1']) {
  const { score, rating } = cvss.getAll(`CVSS:${version}/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H`).base
  console.log(`CVSS:${version} ${score} ${rating}`)
}
JS
seen=$(node "$work/score.cjs")
expected='CVSS:3.0 9.8 Critical
CVSS:3.1 0 None'
printf 'cvss 1.0.5 on AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H\nexpected: 9.8 Critical for both versions\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
