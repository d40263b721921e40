#!/usr/bin/env bash
# cppcheck calls what it found an error, a warning or a matter of style in its XML. One would guess that a converter keeps that as the level of the SARIF results.
# "sarif-multitool convert -t CppCheck" writes no level, so that each result is a warning by the standard. The word only stands in a property of its own.
# A null pointer and an unused variable look alike for readers, and a pipeline that fails for errors never fails. The SARIF of cppcheck itself has levels.
# Seen with @microsoft/sarif-multitool 5.7.0, cppcheck 2.22.0 (cppcheck-py) and sarif-tools 3.0.5.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check cppcheck-py==2.22.0 sarif-tools==3.0.5
npm install --silent --no-audit --no-fund --prefix "$work" @microsoft/sarif-multitool@5.7.0 > "$work/npm.log"

cd "$work"
printf 'int main(void) {\n  int *p = 0;\n  int unused;\n  *p = 3;\n  return 0;\n}\n' > a.c
venv/bin/cppcheck --quiet --enable=style --xml a.c 2> report.xml
venv/bin/cppcheck --quiet --enable=style --output-format=sarif a.c 2> own.sarif
node_modules/.bin/sarif-multitool convert report.xml -t CppCheck -o converted.sarif > log
seen="XML: $(grep -o 'id="\(nullPointer\|unusedVariable\)" severity="[a-z]*"' report.xml | sort | tr '\n' ' ')
$(for file in own converted; do
  code=0
  venv/bin/sarif --check error summary "$file.sarif" > summary || code=$?
  echo "$file.sarif: $(grep -E '^(error|warning): ' summary | tr '\n' ' ')exit code $code"
done)"
expected='XML: id="nullPointer" severity="error" id="unusedVariable" severity="style" 
own.sarif: error: 1 warning: 1 exit code 1
converted.sarif: error: 0 warning: 2 exit code 0'
printf 'expected: one error in both files\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
