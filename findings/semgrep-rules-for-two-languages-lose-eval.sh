#!/usr/bin/env bash
# A rule of semgrep may name several languages; one would guess that it finds in each what the same rule for that language finds.
# A rule for Python and JavaScript that looks for calls of eval finds them in JavaScript only, in whichever order it names the languages.
# Calls of exec are found in both. A rule for Python alone finds both.
# The scan succeeds, names the file as scanned, and reports no error, so that a rule that was joined from two silently finds less.
# Seen with semgrep 1.172.0 and local rules, without network.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check semgrep==1.172.0
cd "$work"
mkdir lab
printf 'eval(x)\nexec(x)\n' > lab/a.py
printf 'eval(x);\nexec(x);\n' > lab/a.js

scan() {
  local code=0
  cat > rules.yml <<YAML
rules:
  - {id: lab-eval, pattern: eval(...), message: eval, languages: [$1], severity: ERROR}
  - {id: lab-exec, pattern: exec(...), message: exec, languages: [$1], severity: ERROR}
YAML
  PATH="$work/venv/bin:$PATH" HOME="$work" semgrep scan --metrics=off --disable-version-check --quiet --config rules.yml --json --output report.json lab || code=$?
  echo "$1: code $code, errors $(jq '.errors | length' report.json), found $(jq -c '[.results[] | .path[4:] + " " + .extra.message] | sort' report.json)"
}
seen=$(scan python)
seen+=$'\n'$(scan javascript)
seen+=$'\n'$(scan 'python, javascript')
seen+=$'\n'$(scan 'javascript, python')
expected='python: code 0, errors 0, found ["a.py eval","a.py exec"]
javascript: code 0, errors 0, found ["a.js eval","a.js exec"]
python, javascript: code 0, errors 0, found ["a.js eval","a.js exec","a.py exec"]
javascript, python: code 0, errors 0, found ["a.js eval","a.js exec","a.py exec"]'
printf 'semgrep 1.172.0\nexpected: four results for both languages\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
