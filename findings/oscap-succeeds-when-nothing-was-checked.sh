#!/usr/bin/env bash
# oscap ends with 0 when all rules of a benchmark pass and with 2 when one fails. One would guess that a host whose rules could not be checked does not give 0.
# A benchmark refers to a second file with its checks. When only the first was copied, each rule has the result "notchecked", a warning goes to standard error, and oscap ends with 0. Its validation of the benchmark succeeds too.
# With the second file and a check that ends with an error oscap gives 2.
# A pipeline that trusts the exit code counts a host as compliant of which nothing was looked at.
# Seen with openscap-scanner 1.3.7 (Debian 12).
set -euo pipefail
found=$(dpkg-query -W -f '${Version}' openscap-scanner 2> /dev/null || true)
[[ "$found" == 1.3.7* ]] || { echo "needs the Debian package openscap-scanner 1.3.7, found ${found:-none}" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir whole alone
cat > whole/benchmark.xml <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<Benchmark xmlns="http://checklists.nist.gov/xccdf/1.2" id="xccdf_org.example_benchmark_b" resolved="1" xml:lang="en">
  <status>draft</status>
  <title>Benchmark</title>
  <version>1</version>
  <Rule id="xccdf_org.example_rule_a" selected="true" severity="high">
    <title>Rule</title>
    <check system="http://oval.mitre.org/XMLSchema/oval-definitions-5">
      <check-content-ref href="checks.xml" name="oval:org.example:def:1"/>
    </check>
  </Rule>
</Benchmark>
XML
cp whole/benchmark.xml alone
# The check: a file that does not exist must exist.
cat > whole/checks.xml <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<oval_definitions xmlns="http://oval.mitre.org/XMLSchema/oval-definitions-5" xmlns:oval="http://oval.mitre.org/XMLSchema/oval-common-5">
  <generator><oval:schema_version>5.11</oval:schema_version><oval:timestamp>2026-01-01T00:00:00</oval:timestamp></generator>
  <definitions>
    <definition id="oval:org.example:def:1" version="1" class="compliance">
      <metadata><title>File</title><description>File</description></metadata>
      <criteria><criterion test_ref="oval:org.example:tst:1"/></criteria>
    </definition>
  </definitions>
  <tests>
    <file_test xmlns="http://oval.mitre.org/XMLSchema/oval-definitions-5#unix" id="oval:org.example:tst:1" version="1" check="all" check_existence="at_least_one_exists" comment="File">
      <object object_ref="oval:org.example:obj:1"/>
    </file_test>
  </tests>
  <objects>
    <file_object xmlns="http://oval.mitre.org/XMLSchema/oval-definitions-5#unix" id="oval:org.example:obj:1" version="1">
      <filepath>/nonexistent/file</filepath>
    </file_object>
  </objects>
</oval_definitions>
XML

seen=$(
  for folder in whole alone; do
    code=0
    (cd "$folder" && oscap xccdf eval --results results.xml benchmark.xml > out 2> err) || code=$?
    valid=0
    (cd "$folder" && oscap xccdf validate benchmark.xml > /dev/null 2>&1) || valid=$?
    echo "$folder: result $(sed -n 's/.*<result>\(.*\)<\/result>.*/\1/p' "$folder/results.xml"), exit code $code, of validate $valid"
  done
)
expected='whole: result fail, exit code 2, of validate 0
alone: result notchecked, exit code 0, of validate 0'
printf 'openscap-scanner 1.3.7\nexpected: no exit code 0\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
