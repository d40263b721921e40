#!/usr/bin/env bash
# bandit exits with 1 for findings and 0 for none. One would guess that a file which it cannot parse, for example of a newer Python, is a failure.
# Its exit code is 0, the JSON report has no results, and the SARIF report says executionSuccessful true.
# The file is only named in the errors of the JSON, or in a notification of the SARIF report.
# A pipeline that looks at the exit code, or at executionSuccessful, passes code that was not examined.
# Seen with bandit 1.9.4.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check 'bandit[sarif]==1.9.4'
echo 'print "a module for Python 2"' > "$work/old.py"

cd "$work"
seen=$(
  for format in json sarif; do
    code=0
    venv/bin/bandit --quiet --format "$format" --output "report.$format" old.py || code=$?
    echo "$format: code $code"
  done
  jq -c '{results: (.results | length), errors: [.errors[].reason]}' report.json
  jq -c '.runs[0] | {results: (.results | length), executionSuccessful: .invocations[0].executionSuccessful, notifications: [.invocations[0].toolConfigurationNotifications[].level]}' report.sarif
)
expected='json: code 0
sarif: code 0
{"results":0,"errors":["syntax error while parsing AST from file"]}
{"results":0,"executionSuccessful":true,"notifications":["error"]}'
printf 'bandit 1.9.4 on a file of Python 2\nexpected: an exit code above 0, executionSuccessful false\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
