#!/usr/bin/env bash
# Audits of websites read Content-Security-Policy. Of a directive that is named twice the first holds, a comma separates two policies, both of which hold, and a nonce must be the same text as that of the script (Content Security Policy Level 3, sections 2.2.1, 2.2.2 and 6.7.2.3).
# One would guess that libraries for the field know these rules.
# csp-parse (npm) keeps the last directive, so a policy whose second script-src is "*" allows all scripts for it. It writes everything in lower case: the nonce is another one, and its text of the policy blocks the page's own script.
# @doyensec/csp-evaluator, content-security-policy-parser (npm) and csp-toolkit (PyPI) read two policies as one: the second is a list of sources in the first. A page that allows its own scripts only has the finding "default-src should not allow '*' as source".
# There is no error. A server and a proxy that each add the field are the usual way to two policies.
# Split the field at commas first. The three keep the first directive and the nonce.
# Seen with csp-parse 0.0.2, @doyensec/csp-evaluator 1.0.3, content-security-policy-parser 0.6.0 and csp-toolkit 0.9.0.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" csp-parse@0.0.2 @doyensec/csp-evaluator@1.0.3 content-security-policy-parser@0.6.0
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check csp-toolkit==0.9.0
cat > policies.txt <<'TXT'
script-src 'nonce-AbCd'; script-src *
script-src 'nonce-AbCd'
default-src 'self', script-src *; object-src 'none'
TXT
cat > read.mjs <<'JS'
import { readFileSync } from 'node:fs'
import parse from 'content-security-policy-parser'
import Policy from 'csp-parse'
import evaluator from '@doyensec/csp-evaluator'

const policies = readFileSync('policies.txt', 'utf8').trim().split('\n')
for (const text of policies) console.log('csp-parse:', new Policy(text).toString())
for (const text of policies) console.log('content-security-policy-parser:', JSON.stringify([...parse(text)]))
for (const text of policies) {
  const { csp } = new evaluator.CspParser(text)
  console.log('csp-evaluator:', JSON.stringify(csp))
  for (const { severity, description } of new evaluator.CspEvaluator(csp).evaluate()) if (severity === 10) console.log('  high:', description)
}
JS
cat > read.py <<'PY'
from csp_toolkit import parse

for text in open('policies.txt'):
    print('csp-toolkit:', {name: [source.raw for source in directive.sources] for name, directive in parse(text.strip()).directives.items()})
PY
seen=$(node read.mjs && venv/bin/python read.py)
expected='csp-parse: script-src *;
csp-parse: script-src '\''nonce-abcd'\'';
csp-parse: default-src '\''self'\'', script-src *; object-src '\''none'\'';
content-security-policy-parser: [["script-src",["'\''nonce-AbCd'\''"]]]
content-security-policy-parser: [["script-src",["'\''nonce-AbCd'\''"]]]
content-security-policy-parser: [["default-src",["'\''self'\'',","script-src","*"]],["object-src",["'\''none'\''"]]]
csp-evaluator: {"script-src":["'\''nonce-AbCd'\''"]}
  high: Missing object-src allows the injection of plugins which can execute JavaScript. Can you set it to '\''none'\''?
csp-evaluator: {"script-src":["'\''nonce-AbCd'\''"]}
  high: Missing object-src allows the injection of plugins which can execute JavaScript. Can you set it to '\''none'\''?
csp-evaluator: {"default-src":["'\''self'\'',","script-src","*"],"object-src":["'\''none'\''"]}
  high: default-src should not allow '\''*'\'' as source
csp-toolkit: {'\''script-src'\'': ["'\''nonce-AbCd'\''"]}
csp-toolkit: {'\''script-src'\'': ["'\''nonce-AbCd'\''"]}
csp-toolkit: {'\''default-src'\'': ["'\''self'\'',", '\''script-src'\'', '\''*'\''], '\''object-src'\'': ["'\''none'\''"]}'
printf "expected: script-src with 'nonce-AbCd' of the first, two policies of the second\nseen:\n%s\n" "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
