#!/usr/bin/env bash
# A scan of a folder that does not exist, for example since the checkout before it failed, should fail. zizmor does so: "no audit was performed".
# detect-secrets, flawfinder, njsscan and bandit exit with 0 and write a full report without results, the one of a clean project.
# Only bandit names the folder, in a list of errors within its JSON. The other three reports, and the exit codes, show nothing.
# Seen with detect-secrets 1.5.0, flawfinder 2.0.20, njsscan 1.0.2, bandit 1.9.4 and zizmor 1.32.0.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check detect-secrets==1.5.0 flawfinder==2.0.20 njsscan==1.0.2 bandit==1.9.4 zizmor==1.32.0

scan() {
  local code=0 name=$1
  shift
  timeout 100 "venv/bin/$name" "$@" missing > report 2> errors || code=$?
  echo "$name: code $code, results $(jq "$count" report 2> /dev/null || true), names the folder: $(grep -q missing report errors && echo yes || echo no)"
}
count='.results | length'
seen=$(scan detect-secrets scan)
count='.runs[0].results | length'
seen+=$'\n'$(scan flawfinder --quiet --sarif)
count='.nodejs | length'
seen+=$'\n'$(scan njsscan --json)
count='.results | length'
seen+=$'\n'$(scan bandit -q -r -f json)
seen+=$'\n'$(scan zizmor --offline --no-progress --format json)
expected='detect-secrets: code 0, results 0, names the folder: no
flawfinder: code 0, results 0, names the folder: no
njsscan: code 0, results 0, names the folder: no
bandit: code 0, results 0, names the folder: yes
zizmor: code 1, results , names the folder: yes'
printf 'detect-secrets 1.5.0, flawfinder 2.0.20, njsscan 1.0.2, bandit 1.9.4, zizmor 1.32.0\nexpected: each fails\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
