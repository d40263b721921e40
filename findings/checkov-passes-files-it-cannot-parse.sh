#!/usr/bin/env bash
# checkov exits with 1 when a check failed. One would guess that a file which it cannot parse is a failure too, or at least in the report.
# A folder whose only file has an unclosed block ends with exit code 0. The SARIF report has no results, no invocation and no notification,
# so that it equals the report of a folder in which every check passed. Only JSON and text list the file, as a parsing error.
# A pipeline that uploads SARIF shows all earlier alerts of the file as fixed after a change removes a brace.
# Seen with checkov 3.3.30.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check 'checkov==3.3.30'
mkdir "$work/code"
cd "$work/code"
block='resource "aws_security_group_rule" "any" {
  type        = "ingress"
  from_port   = 22
  to_port     = 22
  protocol    = "tcp"
  cidr_blocks = ["0.0.0.0/0"]'

check() { # text of the file
  printf '%s\n' "$1" > main.tf
  local code=0
  "$work/venv/bin/checkov" --directory . --framework terraform --skip-download --check CKV_AWS_24 \
    --output sarif --output json --output-file-path ../out > "$work/log" 2>&1 || code=$?
  jq -c --argjson code "$code" '.runs[0] | {code: $code, results: (.results | length), invocations}' ../out/results_sarif.sarif
  jq -c '(if type == "array" then .[0] else . end) | {parsing_errors: (.results.parsing_errors // [] | length)}' ../out/results_json.json
}
seen=$(
  echo whole; check "$block
}"
  echo broken; check "$block"
)
expected='whole
{"code":1,"results":1,"invocations":null}
{"parsing_errors":0}
broken
{"code":0,"results":0,"invocations":null}
{"parsing_errors":1}'
printf 'checkov 3.3.30 on a file with an open port, whole and without its last brace\nexpected: an exit code above 0 for both\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
