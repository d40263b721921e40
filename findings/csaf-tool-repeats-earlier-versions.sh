#!/usr/bin/env bash
# An advisory in CSAF names the affected products in a tree: a version is a branch of the category product_version, or product_version_range (CSAF 2.0, sections 3.1.2.2 and 3.1.2.3). One entry of a vulnerability may have products that are affected and others that are fixed (3.2.3.9).
# One would guess that csaf-tool prints each product with its own version.
# It gives a product with a range, and one without a version, the version of the product before: "from 9.2 before 9.5" becomes "9.1", which is not affected, and a switch has the release of a web server. Its library keeps the last state alone: a vulnerability of three affected products is "fixed".
# The validator of the BSI (csaf-validator-lib) calls the document valid; nothing tells that the list is wrong.
# Seen with csaf-tool 0.3.2, lib4sbom 0.10.4, which its library needs and does not declare, and @secvisogram/csaf-validator-lib 2.0.10.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" @secvisogram/csaf-validator-lib@2.0.10
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check csaf-tool==0.3.2 lib4sbom==0.10.4
cat > advisory.json <<'JSON'
{ "document": { "category": "csaf_vex", "csaf_version": "2.0", "title": "Example",
    "publisher": { "category": "vendor", "name": "Example", "namespace": "https://example.com" },
    "tracking": { "id": "EX-1", "status": "final", "version": "1", "initial_release_date": "2026-01-01T00:00:00Z", "current_release_date": "2026-01-01T00:00:00Z",
      "revision_history": [{ "number": "1", "date": "2026-01-01T00:00:00Z", "summary": "Initial" }] } },
  "product_tree": { "branches": [{ "category": "vendor", "name": "Example", "branches": [
    { "category": "product_name", "name": "Router", "branches": [
      { "category": "product_version", "name": "9.1", "product": { "product_id": "R1", "name": "Example Router 9.1" } },
      { "category": "product_version_range", "name": "vers:intdot/>=9.2|<9.5", "product": { "product_id": "R2", "name": "Example Router from 9.2 before 9.5" } }] },
    { "category": "product_name", "name": "Web", "branches": [
      { "category": "product_version_range", "name": "vers:intdot/<2.0", "product": { "product_id": "W1", "name": "Example Web before 2.0" } },
      { "category": "product_version", "name": "2.0", "product": { "product_id": "W2", "name": "Example Web 2.0" } }] },
    { "category": "product_name", "name": "Switch", "product": { "product_id": "S1", "name": "Example Switch" } }] }] },
  "vulnerabilities": [{ "cve": "CVE-2026-1111", "notes": [{ "category": "description", "text": "Example" }],
    "product_status": { "known_affected": ["R2", "W1", "S1"], "fixed": ["W2"] },
    "remediations": [{ "category": "vendor_fix", "details": "Update", "product_ids": ["R2", "W1", "S1"] }] }] }
JSON
cat > check.mjs <<'JS'
import { readFileSync } from 'node:fs'
import * as mandatory from '@secvisogram/csaf-validator-lib/mandatoryTests.js'
import { csaf_2_0 } from '@secvisogram/csaf-validator-lib/schemaTests.js'
import validate from '@secvisogram/csaf-validator-lib/validate.js'

const { isValid } = await validate([csaf_2_0, ...Object.values(mandatory)], JSON.parse(readFileSync('advisory.json', 'utf8')))
console.log('valid:', isValid)
JS
cat > read.py <<'PY'
from csaf.parser import CSAFParser

parser = CSAFParser()
parser.parse_file('advisory.json')
print('library:', ', '.join(f"{key} {item['product']} {item['version']}" for key, item in parser.get_product().items()))
print('library:', ', '.join(f"{item['id']} {item['status']}" for item in parser.get_vulnerabilities()))
PY
seen=$(node check.mjs && venv/bin/csaf-tool -i advisory.json | sed -n '/^KNOWN_AFFECTED/,/^Remediations/p' | grep -o '^[A-Z_]*$\|[A-Z][a-z]* *│ [0-9].*[0-9]' | tr -s ' ' && venv/bin/python read.py)
expected='valid: true
KNOWN_AFFECTED
Router │ 9.1
Web │ 9.1
Switch │ 2.0
FIXED
Web │ 2.0
library: R1 Router 9.1, R2 Router 9.1, W1 Web 9.1, W2 Web 2.0, S1 Switch 2.0
library: CVE-2026-1111 fixed'
printf 'expected: Router from 9.2 before 9.5, Web before 2.0 and the switch without a version are affected\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
