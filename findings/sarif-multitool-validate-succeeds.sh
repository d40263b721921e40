#!/usr/bin/env bash
# The multitool is the validator that the guides for SARIF name. One would guess that `validate` fails for a file that does not match the schema, so that a pipeline can check its reports with it.
# `validate` prints the error, and ends with exit code 0 and "Analysis completed successfully".
# A pipeline that only looks at the exit code takes every file for valid, and the upload to a code-scanning service fails later.
# Seen with @microsoft/sarif-multitool 5.7.0.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit --prefix "$work" @microsoft/sarif-multitool@5.7.0 >/dev/null

cat > report.sarif <<'JSON'
{"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [{"tool": {"driver": {"name": "lab"}}, "results": [{"ruleId": "R1"}]}]}
JSON
code=0
node_modules/.bin/sarif-multitool validate report.sarif > output.txt 2>&1 || code=$?
seen="$(grep -c ': error JSON' output.txt || true) errors of the schema, exit code $code"
expected='1 errors of the schema, exit code 0'
printf 'sarif-multitool 5.7.0: a result without the required message\nexpected: 1 errors of the schema, exit code other than 0\nseen: %s\n' "$seen"
grep ': error JSON' output.txt || true
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before: %s\n' "$expected" >&2; exit 1; }
