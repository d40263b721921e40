#!/usr/bin/env bash
# bandit compares a report with an earlier one (-b) to show what is new. One would guess that a second result of a check in a file is new.
# The comparison leaves out the line and the code: in a file with one known result of a check, every later result of that check is known too.
# Here the first report has one assert; the second assert, in another function, gives an empty report and exit code 0.
# A baseline of one accepted result therefore accepts all future ones of its kind in its file.
# Seen with bandit 1.9.4.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check bandit==1.9.4
cd "$work"
results() {
  local code=0
  venv/bin/bandit --quiet --format json --output report.json "$@" checks.py || code=$?
  echo "code $code, lines $(jq -c '[.results[].line_number]' report.json)"
}
printf 'def first(value):\n    assert value\n' > checks.py
seen="baseline: $(results)"
mv report.json baseline.json
printf '\n\ndef second(size):\n    assert size > 1\n' >> checks.py
seen+="
without baseline: $(results)
with baseline: $(results --baseline baseline.json)"
expected='baseline: code 1, lines [2]
without baseline: code 1, lines [2,6]
with baseline: code 0, lines []'
printf 'bandit 1.9.4\nexpected: with the baseline, line 6 is left\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
