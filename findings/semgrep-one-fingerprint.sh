#!/usr/bin/env bash
# SARIF has fingerprints so that a reader can follow one result through several scans; one would guess that they differ between results, or are absent.
# Without a login, semgrep writes the same text, "requires login", as the fingerprint of every result of every rule and file.
# A reader that identifies results by their fingerprint keeps one result of the whole report, or takes each new one for a known one.
# The report is valid, and semgrep exits with 0.
# Seen with semgrep 1.172.0 and a local rule, without network.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check semgrep==1.172.0
cd "$work"
mkdir lab
cat > rule.yml <<'YAML'
rules:
  - id: lab-eval
    languages: [python]
    severity: ERROR
    message: a call of eval
    pattern: eval(...)
  - id: lab-exec
    languages: [python]
    severity: ERROR
    message: a call of exec
    pattern: exec(...)
YAML
printf 'eval(one)\n' > lab/a.py
printf 'eval(two)\nexec(three)\n' > lab/b.py
code=0
PATH="$work/venv/bin:$PATH" HOME="$work" semgrep scan --metrics=off --disable-version-check --quiet --config rule.yml --sarif --output report.sarif lab || code=$?
seen="code $code, results $(jq '.runs[0].results | length' report.sarif), fingerprints $(jq -c '[.runs[0].results[].fingerprints] | unique' report.sarif)"
expected='code 0, results 3, fingerprints [{"matchBasedId/v1":"requires login"}]'
printf 'semgrep 1.172.0\nexpected: three fingerprints\nseen: %s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before: %s\n' "$expected" >&2; exit 1; }
