#!/usr/bin/env bash
# A scan that could not look at a part of a file, or at nothing, should say so: SARIF has executionSuccessful, and a notification has a place for the file.
# semgrep says executionSuccessful true in all these cases. It reads around a syntax error, leaves out what it could not read, and exits with 0: a problem in that part seems mended.
# The notification is a warning, and its file and line stand only in the text of the message, not in locations.
# A folder that does not exist is a notification too, and executionSuccessful is still true. Here the exit code is 2. --strict gives 3 for the syntax error.
# Seen with semgrep 1.185.0 and a local rule, without network.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check semgrep==1.185.0
cat > rule.yml <<'YAML'
rules:
  - id: lab-eval
    languages: [python]
    severity: ERROR
    message: a call of eval
    pattern: eval(...)
YAML
mkdir whole broken
printf 'eval(one)\nx = (1, eval(two))\ndef f():\n    eval(three)\n' > whole/a.py
printf 'eval(one)\nx = (1, eval(two)\ndef f():\n    eval(three)\n' > broken/a.py

scan() {
  local code=0
  PATH="$work/venv/bin:$PATH" HOME="$work" semgrep scan --metrics=off --disable-version-check --quiet --config rule.yml --sarif --output report "$@" > log 2>&1 || code=$?
  jq -r --arg about "$*: code $code" '.runs[0] | "\($about), lines \([.results[].locations[0].physicalLocation.region.startLine] | sort | join(" ")), successful \(.invocations[0].executionSuccessful), notifications \([.invocations[0].toolExecutionNotifications[] | "\(.level) with \(.locations // [] | length) places"] | join(", "))"' report
}
seen="$(scan whole)
$(scan broken)
$(scan --strict broken)
$(scan missing)"
expected='whole: code 0, lines 1 2 4, successful true, notifications 
broken: code 0, lines 1 4, successful true, notifications warning with 0 places
--strict broken: code 3, lines 1 4, successful true, notifications warning with 0 places
missing: code 2, lines , successful true, notifications error with 0 places'
printf 'semgrep 1.185.0\nexpected: no success for broken and missing, and a place in the notification\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
