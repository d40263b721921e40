#!/usr/bin/env bash
# SARIF marks a result that is no longer found as baselineState "absent", and an accepted one with a suppression. One would guess that a reader for reports in CI leaves both out.
# sarif-tools counts both as errors, and "--check error" fails the pipeline for them.
# Its rows also keep an absent result beside the open ones, with nothing that tells them apart.
# A team that fixes a finding, or accepts it in the source, still sees the count of before.
# Seen with sarif-tools 3.0.5.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check sarif-tools==3.0.5

cat > "$work/report.sarif" <<'JSON'
{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "lab", "rules": [{"id": "R1"}, {"id": "R2"}]}}, "results": [
  {"ruleId": "R1", "level": "error", "baselineState": "absent", "message": {"text": "fixed since the last scan"},
   "locations": [{"physicalLocation": {"artifactLocation": {"uri": "a.py"}, "region": {"startLine": 1}}}]},
  {"ruleId": "R2", "level": "error", "suppressions": [{"kind": "inSource", "status": "accepted"}], "message": {"text": "accepted"},
   "locations": [{"physicalLocation": {"artifactLocation": {"uri": "a.py"}, "region": {"startLine": 2}}}]}
]}]}
JSON
cd "$work"
code=0
venv/bin/sarif --check error summary report.sarif > summary.txt 2>&1 || code=$?
seen="$(grep -E '^error: ' summary.txt), exit code $code"
expected='error: 2, exit code 2'
printf 'sarif-tools 3.0.5: one absent and one suppressed result\nexpected: error: 0, exit code 0\nseen: %s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before: %s\n' "$expected" >&2; exit 1; }
