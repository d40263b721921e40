#!/usr/bin/env bash
# %SRCROOT% in a SARIF report is the root of the sources, and places are given from there. So one would guess that ktlint names the folder that it was called in.
# ktlint takes the home folder of the user for it. The same file has another place for each user and each checkout, and readers that join the place to their root look outside of it.
# A folder that does not exist gives a clean report and exit code 0.
# On stdout, lines of a log stand before the report of a project with problems, so only clean projects give JSON. With output=FILE all do.
# Seen with ktlint 1.5.0.
set -euo pipefail
for program in java mvn; do command -v "$program" > /dev/null || { echo "needs $program" >&2; exit 2; }; done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mvn -q -B dependency:copy -Dartifact=com.pinterest.ktlint:ktlint-cli:1.5.0:jar:all -DoutputDirectory="$work" > log 2>&1 || { cat log >&2; exit 2; }
mkdir -p home/user checkout/{src,clean}
cd checkout
printf 'fun a( ) {}\n' > src/A.kt
printf 'fun b() {}\n' > clean/B.kt

# $1: the home folder, $2: the folder to check, $3: how the report is written
scan() {
  local code=0
  java -Duser.home="$work/$1" -jar "$work/ktlint-cli-1.5.0-all.jar" --reporter="sarif$3" "$2" > ../stdout 2> ../log || code=$?
  echo "code $code"
}
file=",output=$work/report"
seen=$(
  for home in home/user home checkout; do
    code=$(scan "$home" src "$file")
    echo "home $home: $code, $(jq -r '.runs[0] | "root \(.originalUriBaseIds["%SRCROOT%"].uri), places \([.results[].locations[0].physicalLocation.artifactLocation.uri] | unique | join(" "))"' ../report)"
  done
  code=$(scan home missing "$file")
  echo "missing: $code, results $(jq '.runs[0].results | length' ../report)"
  for folder in src clean; do
    code=$(scan home "$folder" '')
    echo "$folder on stdout: $code, JSON: $(jq -e . ../stdout > /dev/null 2>&1 && echo yes || echo no)"
  done
)
seen=${seen//$work/}
expected='home home/user: code 1, root file:///home/user/, places ../../checkout/src/A.kt
home home: code 1, root file:///home/, places ../checkout/src/A.kt
home checkout: code 1, root file:///checkout/, places src/A.kt
missing: code 0, results 0
src on stdout: code 1, JSON: no
clean on stdout: code 0, JSON: yes'
printf 'ktlint 1.5.0\nexpected: root /checkout/ and place src/A.kt for each home, a failure for missing, JSON in both cases\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
