#!/usr/bin/env bash
# Scanners and tests report by JUnit files. A test suite may hold test suites there: PHPUnit writes one for each class of a suite, with the totals of all that it holds.
# One would guess that readers of these files list the tests of the inner suites.
# junit2html (PyPI) leaves them out, with their failures: the page of a failed run shows one passed test and no failure.
# test-results-parser (npm) leaves out the tests too, but keeps the totals of the file: four of five tests are failed or skipped, and have no name.
# There is no error. A reader of such a page takes a failed run for a clean one.
# junitparser (PyPI) and junit2json (npm) return all tests.
# Seen with junit2html 31.1.4, test-results-parser 0.4.6, junitparser 5.0.3 and junit2json 4.0.0.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" test-results-parser@0.4.6 junit2json@4.0.0
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check junit2html==31.1.4 junitparser==5.0.3
cat > report.xml <<'XML'
<?xml version="1.0"?>
<testsuites>
  <testsuite name="all" tests="5" failures="2" errors="1" skipped="1">
    <testcase classname="top" name="login" time="1"/>
    <testsuite name="headers" tests="4" failures="2" errors="1" skipped="1">
      <testcase classname="headers" name="hsts" time="1"><failure message="missing">none</failure></testcase>
      <testcase classname="headers" name="csp" time="1"><failure message="missing">none</failure></testcase>
      <testcase classname="headers" name="cookies" time="1"><error message="timeout">none</error></testcase>
      <testcase classname="headers" name="frames" time="0"><skipped/></testcase>
    </testsuite>
  </testsuite>
</testsuites>
XML
cat > read.cjs <<'JS'
const { readFileSync } = require('node:fs')
const junit2json = require('junit2json')
const { parse } = require('test-results-parser')

const { failed, suites } = parse({ type: 'junit', files: ['report.xml'] })
console.log(`test-results-parser: ${failed} failed, tests`, ...suites.flatMap(({ cases }) => cases.map(({ name }) => name)))
const names = ({ testsuite = [], testcase = [] }) => [...testcase.map(({ name }) => name), ...testsuite.flatMap(names)]
junit2json.parse(readFileSync('report.xml', 'utf8')).then((report) => console.log('junit2json: tests', ...names(report)))
JS
cat > read.py <<'PY'
import junitparser

print('junitparser: tests', *(case.name for suite in junitparser.JUnitXml.fromfile('report.xml') for case in suite))
PY
seen=$(
  node read.cjs
  venv/bin/python read.py
  venv/bin/junit2html report.xml report.html
  echo "junit2html: $(sed -n 's/.*<th>Failures<.th><td>\([0-9]*\)<.*/\1/p' report.html | paste -sd ' ') failed, tests $(sed -n 's/.*Test case:<.th><td><b>\([a-z]*\)<.*/\1/p' report.html | paste -sd ' ')"
)
expected='test-results-parser: 2 failed, tests login
junit2json: tests login hsts csp cookies frames
junitparser: tests login hsts csp cookies frames
junit2html: 0 failed, tests login'
printf 'expected: the five tests of junitparser from each\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
