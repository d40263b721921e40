#!/usr/bin/env bash
# Terraform files hold policies and commands as texts. In quotes \" is a quote, \t a tab and \u00e9 a letter, $${ is the text ${ without a template, and the last line of a heredoc has its line end (HCL Native Syntax Specification, "Template Expressions" and "Template Literals").
# One would guess that the library with which checkov reads these files returns the texts of Terraform.
# bc-python-hcl2 (PyPI) leaves all escapes as they stand, and drops the last line end: a policy of JSON that is valid for Terraform is none for Python, and a check that parses it sees no "*".
# There is no error. Policies that jsonencode or a heredoc writes can be read, so the fault shows with quoted ones only.
# hcl2-parser (npm), made of HashiCorp's own library, returns the texts.
# Seen with bc-python-hcl2 0.4.3 and hcl2-parser 1.0.3.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" hcl2-parser@1.0.3
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check bc-python-hcl2==0.4.3
cat > main.tf <<'TF'
resource "aws_iam_policy" "all" {
  policy = "{\"Action\":\"*\"}"
  name = "caf\u00e9\t$${stage}"
  description = <<EOT
one
EOT
}
TF
cat > read.py <<'PY'
import json

import hcl2

body = hcl2.load(open('main.tf'))['resource'][0]['aws_iam_policy']['all']
body = {key: body[key][0] for key in ('policy', 'name', 'description')}
try:
    policy = json.loads(body['policy'])
except ValueError:
    policy = 'not JSON'
print('bc-python-hcl2:', json.dumps(body), 'policy', policy)
PY
cat > read.cjs <<'JS'
const { readFileSync } = require('node:fs')

const [{ resource }] = require('hcl2-parser').parseToObject(readFileSync('main.tf', 'utf8'))
const [{ policy, name, description }] = resource.aws_iam_policy.all
console.log('hcl2-parser:', JSON.stringify({ policy, name, description }), 'policy', JSON.parse(policy))
JS
seen=$(venv/bin/python read.py && node read.cjs)
# shellcheck disable=SC2016
expected='bc-python-hcl2: {"policy": "{\\\"Action\\\":\\\"*\\\"}", "name": "caf\\u00e9\\t$${stage}", "description": "one"} policy not JSON
hcl2-parser: {"policy":"{\"Action\":\"*\"}","name":"café\t${stage}","description":"one\n"} policy { Action: '\''*'\'' }'
printf 'expected: the texts of hcl2-parser\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
