#!/usr/bin/env bash
# The report format of a linter should not change its exit code. staticcheck exits with 1 for a problem, and for a folder that does not exist, as text and as JSON.
# With -f sarif it exits with 0 in both cases, so a pipeline that changed the format passes from then on.
# The missing folder is a result of the rule "compile", in line 0 of no file, and executionSuccessful is true: only that text tells that the scan failed.
# Seen with staticcheck 2026.2.2 (0.8.2).
set -euo pipefail
command -v go > /dev/null || { echo 'needs go' >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
GOBIN="$work/bin" go install honnef.co/go/tools/cmd/staticcheck@v0.8.2 > log 2>&1 || { cat log >&2; exit 2; }
mkdir -p lab/bad
cd lab
printf 'module lab\n\ngo 1.21\n' > go.mod
printf 'package bad\n\nfunc F(x int) {\n\tx = x\n}\n' > bad/a.go
export STATICCHECK_CACHE="$work/cache"

scan() {
  local code=0
  "$work/bin/staticcheck" -checks SA4018 -f "$1" "$2" > ../report 2> ../log || code=$?
  echo "$1, $2: code $code"
}
seen=$(
  for format in text json sarif; do
    for folder in ./bad ./missing; do scan "$format" "$folder"; done
  done
  jq -r '.runs[0] | "rules \([.results[].ruleId] | join(" ")), files \([.results[].locations[].physicalLocation.artifactLocation.uri // empty] | length), lines \([.results[].locations[].physicalLocation.region.startLine] | join(" ")), successful \(.invocations[0].executionSuccessful)"' ../report
)
expected='text, ./bad: code 1
text, ./missing: code 1
json, ./bad: code 1
json, ./missing: code 1
sarif, ./bad: code 0
sarif, ./missing: code 0
rules compile, files 0, lines 0, successful true'
printf 'staticcheck 0.8.2\nexpected: code 1 in all cases, and no success\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
