#!/usr/bin/env bash
# zizmor exits with 14 when it has findings of the severity high. One would guess that the report format does not matter.
# With --format sarif the exit code is 0 for the same file and the same finding; plain, json and github give 14.
# A pipeline that changes the format to feed a second reader stops failing, although the report contains the finding.
# The exit code of a scanner says something only together with its options.
# Seen with zizmor 1.32.0, offline.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check zizmor==1.32.0
mkdir -p "$work/.github/workflows"
cat > "$work/.github/workflows/greet.yml" <<'YAML'
name: greet
on: pull_request
permissions: {}
jobs:
  greet:
    runs-on: ubuntu-latest
    steps:
      - run: echo "${{ github.event.pull_request.title }}"
YAML

cd "$work"
seen=$(
  for format in plain json github sarif; do
    code=0
    venv/bin/zizmor --offline --quiet --format "$format" .github/workflows/greet.yml > "report.$format" 2> /dev/null || code=$?
    echo "$format: code $code, finding named $(grep -c template-injection "report.$format" | sed 's/^[1-9].*/yes/')"
  done
)
expected='plain: code 14, finding named yes
json: code 14, finding named yes
github: code 14, finding named yes
sarif: code 0, finding named yes'
printf 'zizmor 1.32.0\nexpected: one exit code\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
