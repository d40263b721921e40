#!/usr/bin/env bash
# The locations of a SARIF result are where it occurred, and readers show the first one. One would guess that cppcheck puts the place there that its text names.
# Its SARIF lists the steps that lead to a problem as locations, and the place of the problem last; SARIF has code flows for steps.
# A null pointer that is used in line 3 is a result in line 2 for sarif-tools, and for services that show alerts at the first location. Steps may be in other files.
# The alert is in a file or a change that has no mistake, and a suppression in the right line does not look like its own.
# Seen with cppcheck 2.22.0 (cppcheck-py) and sarif-tools 3.0.5.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check cppcheck-py==2.22.0 sarif-tools==3.0.5

cd "$work"
printf 'int main(int count) {\n  int *p = 0;\n  if (count > 3) *p = 3;\n  return 0;\n}\n' > a.c
text=$(venv/bin/cppcheck --quiet --template='{file}:{line} {id}' a.c 2>&1)
venv/bin/cppcheck --quiet --output-format=sarif a.c 2> report.sarif
venv/bin/sarif csv report.sarif --output rows.csv > log
seen="text: $text
locations of the SARIF: $(jq -c '[.runs[].results[].locations[].physicalLocation.region.startLine]' report.sarif)
sarif-tools: $(awk -F, '/nullPointer/ { print $5 ":" $6 }' rows.csv | tr -d '\r')"
expected='text: a.c:3 nullPointer
locations of the SARIF: [2,3,3]
sarif-tools: a.c:2'
printf 'expected: a.c:3 in both, as in the text\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
