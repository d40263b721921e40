#!/usr/bin/env bash
# The schema of SARIF wants an array of results, if only an empty one, of each scan: a report without results is for a run that did not scan.
# revive leaves the array out for a clean package, so that a careful reader refuses a good scan. It also does so for ./missing/..., a folder that does not exist, with exit code 0.
# Without the dots the missing folder gives exit code 1 and an empty file.
# A file that does not parse is a result without a rule, also with exit code 0: a reader that counts by rule loses it, and the problems that the file had seem mended.
# Seen with revive 1.17.0; 1.3.4 does the same.
set -euo pipefail
command -v go > /dev/null || { echo 'needs go' >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
GOBIN="$work/bin" go install github.com/mgechev/revive@v1.17.0 > log 2>&1 || { cat log >&2; exit 2; }
mkdir -p lab/{bad,clean,broken}
cd lab
printf 'module lab\n\ngo 1.21\n' > go.mod
printf '[rule.var-naming]\n' > rules.toml
printf 'package bad\n\nfunc f_x() {}\n' > bad/a.go
printf 'package clean\n' > clean/a.go
printf 'package broken\n\nfunc (\n' > broken/a.go

scan() {
  local code=0
  "$work/bin/revive" -config rules.toml -formatter sarif "$1" > ../report 2> ../log || code=$?
  echo "$1: code $code, $(jq -r '.runs[0] | if has("results") then "rules \([.results[].ruleId] | tojson)" else "no array" end' ../report)"
}
seen=$(for target in ./bad ./clean ./broken ./missing/... ./missing; do scan "$target"; done)
expected='./bad: code 0, rules ["var-naming"]
./clean: code 0, no array
./broken: code 0, rules [null]
./missing/...: code 0, no array
./missing: code 1, '
printf 'revive 1.17.0\nexpected: an empty array for clean, a rule or a failure for broken, a failure for both missing\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
