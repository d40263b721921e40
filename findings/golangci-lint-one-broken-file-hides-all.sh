#!/usr/bin/env bash
# A linter that cannot read one package should still report the others, or say that it did not.
# golangci-lint leaves out all problems of all packages while one file of one package does not compile. The report has results of "typecheck" for that file, and the exit code is 1, as for any problem: each problem of the other packages seems mended.
# For a folder that does not exist, golangci-lint exits with 7 and writes the same bytes as for a clean package. A pipeline that keeps the report, and accepts any exit code since 1 is a normal one, sees a clean project.
# Seen with golangci-lint 1.64.8. The first run builds it, which takes minutes.
set -euo pipefail
command -v go > /dev/null || { echo 'needs go' >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
GOBIN="$work/bin" go install github.com/golangci/golangci-lint/cmd/golangci-lint@v1.64.8 > log 2>&1 || { cat log >&2; exit 2; }
mkdir -p lab/{one,two,broken,clean}
cd lab
printf 'module lab\n\ngo 1.21\n' > go.mod
for name in one two; do printf 'package %s\n\nfunc F(x int) {\n\tx = x\n}\n' "$name" > "$name/a.go"; done
printf 'package broken\n\nfunc (\n' > broken/a.go
printf 'package clean\n' > clean/a.go
export GOLANGCI_LINT_CACHE="$work/cache"

# $1: name of the report, then the packages
scan() {
  local code=0 name=$1
  shift
  "$work/bin/golangci-lint" run --no-config --disable-all --enable govet --out-format sarif "$@" > "../$name" 2> ../log || code=$?
  jq -r --arg about "$name: code $code" '"\($about), results \([.runs[0].results[] | "\(.ruleId) \(.locations[0].physicalLocation.artifactLocation.uri)"] | unique | join(", "))"' "../$name"
}
seen="$(scan good ./one ./two)
$(scan good-and-broken ./one ./two ./broken)
$(scan clean ./clean)
$(scan missing ./missing)
$(cmp -s ../clean ../missing && echo 'clean and missing: the same bytes')"
expected='good: code 1, results govet one/a.go, govet two/a.go
good-and-broken: code 1, results typecheck broken/a.go
clean: code 0, results 
missing: code 7, results 
clean and missing: the same bytes'
printf 'golangci-lint 1.64.8\nexpected: one and two in both reports, another report for the missing folder\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
