#!/usr/bin/env bash
# A SARIF result without a level has the level of its rule, and a rule without one has "warning" (SARIF 2.1.0, sections 3.27.10 and 3.50.3).
# One would guess that converters of SARIF know the defaults, as a report without errors is read as a clean one.
# sarif-junit (npm) makes a passed test of each result without a level, also of errors: the JUnit report has no failure.
# @security-alert/sarif-to-markdown (npm) leaves out all results of a rule without defaultConfiguration, also errors that state their level, and gives results with a level that of the rule.
# There is no error. A report for sarif-junit needs a level in each result; one for sarif-to-markdown in each rule.
# Seen with sarif-junit 1.1.4 and @security-alert/sarif-to-markdown 1.11.1.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" sarif-junit@1.1.4 @security-alert/sarif-to-markdown@1.11.1
cat > report.sarif <<'JSON'
{"version":"2.1.0","runs":[{
  "tool":{"driver":{"name":"lab","rules":[{"id":"strict","defaultConfiguration":{"level":"error"}},{"id":"plain"}]}},
  "results":[
    {"ruleId":"strict","ruleIndex":0,"message":{"text":"an error by its rule"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a.c"},"region":{"startLine":1}}}]},
    {"ruleId":"plain","ruleIndex":1,"message":{"text":"a warning by default"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"b.c"},"region":{"startLine":2}}}]},
    {"ruleId":"plain","ruleIndex":1,"level":"error","message":{"text":"an error by itself"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"c.c"},"region":{"startLine":3}}}]}
  ]}]}
JSON
cat > convert.cjs <<'JS'
const { sarifToMarkdown } = require('@security-alert/sarif-to-markdown')
const [{ body }] = sarifToMarkdown({ owner: 'example', repo: 'lab', branch: 'main', sourceRoot: '' })(require('./report.sarif.json'))
console.log('sarif-to-markdown:', body.match(/\w\.c#L\d/g).join(' '))
JS
cp report.sarif report.sarif.json
seen=$(
  node_modules/.bin/sarif-junit -i report.sarif -o report.xml > log 2>&1 || cat log
  echo "sarif-junit: $(grep -c '<testcase' report.xml) tests, $(grep -c '<failure' report.xml) failed"
  node convert.cjs
)
expected='sarif-junit: 3 tests, 1 failed
sarif-to-markdown: a.c#L1'
printf 'expected: 3 failed tests, and places in a.c, b.c and c.c\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
