#!/usr/bin/env bash
# In CSAF a product may stand in the tree or in the plain list full_product_names, products may form a group, a remedy may name products by group_ids, and first_fixed lists the first versions with a fix (CSAF 2.0, sections 3.2.2 and 3.2.3).
# One would guess that libraries for "parsing and validating" these documents keep what they read.
# csaf-vex and csaf-lib, which grew out of it (both beta), drop the plain list, the groups, the group_ids and first_fixed, and say nothing: the remedy is for no product, the version with the fix is gone, and the product that a status names is defined nowhere.
# The validator of the BSI (csaf-validator-lib) calls the document valid, and what each library writes of it not.
# Seen with csaf-vex 0.1.0b5, csaf-lib 0.1.0b12 and @secvisogram/csaf-validator-lib 2.0.10.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" @secvisogram/csaf-validator-lib@2.0.10
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check csaf-vex==0.1.0b5 csaf-lib==0.1.0b12
cat > document.json <<'JSON'
{ "document": { "category": "csaf_vex", "csaf_version": "2.0", "title": "Example",
    "publisher": { "category": "vendor", "name": "Example", "namespace": "https://example.com" },
    "tracking": { "id": "EX-1", "status": "final", "version": "1", "initial_release_date": "2026-01-01T00:00:00Z", "current_release_date": "2026-01-01T00:00:00Z",
      "revision_history": [{ "number": "1", "date": "2026-01-01T00:00:00Z", "summary": "Initial" }] } },
  "product_tree": {
    "full_product_names": [{ "product_id": "ROUTER", "name": "Example Router 9.1" }],
    "branches": [{ "category": "vendor", "name": "Example", "branches": [{ "category": "product_name", "name": "Web", "branches": [
      { "category": "product_version", "name": "1.0", "product": { "product_id": "WEB1", "name": "Example Web 1.0" } },
      { "category": "product_version", "name": "2.0", "product": { "product_id": "WEB2", "name": "Example Web 2.0" } }] }] }],
    "product_groups": [{ "group_id": "OLD", "product_ids": ["ROUTER", "WEB1"] }] },
  "vulnerabilities": [{ "cve": "CVE-2026-1111", "notes": [{ "category": "description", "text": "Example" }],
    "product_status": { "known_affected": ["ROUTER", "WEB1"], "first_fixed": ["WEB2"] },
    "remediations": [{ "category": "vendor_fix", "details": "Update", "group_ids": ["OLD"] }] }] }
JSON
cat > read.py <<'PY'
import json
from importlib import import_module

document = json.load(open('document.json'))
for name in ('csaf_vex', 'csaf_lib'):
    copy = import_module(f'{name}.models.csafvex').CSAFVEX.from_dict(document).to_dict()
    json.dump(copy, open(f'{name}.json', 'w'))
    [vulnerability] = copy['vulnerabilities']
    print(f'{name}: {", ".join(copy["product_tree"])}; {vulnerability["product_status"]}; {vulnerability["remediations"]}')
PY
cat > check.mjs <<'JS'
import { readFileSync } from 'node:fs'
import * as mandatory from '@secvisogram/csaf-validator-lib/mandatoryTests.js'
import { csaf_2_0 } from '@secvisogram/csaf-validator-lib/schemaTests.js'
import validate from '@secvisogram/csaf-validator-lib/validate.js'

for (const name of ['document', 'csaf_vex', 'csaf_lib']) {
  const { tests } = await validate([csaf_2_0, ...Object.values(mandatory)], JSON.parse(readFileSync(`${name}.json`, 'utf8')))
  const failed = tests.filter((test) => !test.isValid)
  console.log(`${name}: ${failed.length === 0 ? 'valid' : failed.map((test) => `${test.name}: ${test.errors[0].message}`).join('; ')}`)
}
JS
seen=$(venv/bin/python read.py && node check.mjs)
expected='csaf_vex: branches; {'\''known_affected'\'': ['\''ROUTER'\'', '\''WEB1'\'']}; [{'\''category'\'': '\''vendor_fix'\'', '\''details'\'': '\''Update'\''}]
csaf_lib: branches; {'\''known_affected'\'': ['\''ROUTER'\'', '\''WEB1'\'']}; [{'\''category'\'': '\''vendor_fix'\'', '\''details'\'': '\''Update'\''}]
document: valid
csaf_vex: mandatoryTest_6_1_1: definition of product id missing; mandatoryTest_6_1_27_10: no suitable action statement found; mandatoryTest_6_1_29: remediation without product reference
csaf_lib: mandatoryTest_6_1_1: definition of product id missing; mandatoryTest_6_1_27_10: no suitable action statement found; mandatoryTest_6_1_29: remediation without product reference'
printf 'expected: the list, the group, first_fixed and the products of the remedy in both, and three valid documents\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
