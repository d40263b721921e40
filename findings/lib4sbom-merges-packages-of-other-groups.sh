#!/usr/bin/env bash
# CycloneDX names a package by group, name and version: "org.apache.kafka" and "com.google.zxing" both have a "core". One would guess that a reader keeps both.
# lib4sbom keeps packages by name and version alone. The later of two replaces the earlier without a message; the package URLs, which differ, are not looked at.
# sbomdiff, which is built on it, reports no difference when one of the two is removed, and exits with 0. A list of advisories by it lacks a package.
# cyclonedx-python-lib reads both.
# Seen with lib4sbom 0.10.4, sbomdiff 0.6.0 and cyclonedx-python-lib 11.12.0.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check lib4sbom==0.10.4 sbomdiff==0.6.0 cyclonedx-python-lib==11.12.0
cat > both.json <<'JSON'
{
  "bomFormat": "CycloneDX",
  "specVersion": "1.5",
  "version": 1,
  "components": [
    { "type": "library", "bom-ref": "1", "group": "org.apache.kafka", "name": "core", "version": "3.1", "purl": "pkg:maven/org.apache.kafka/core@3.1" },
    { "type": "library", "bom-ref": "2", "group": "com.google.zxing", "name": "core", "version": "3.1", "purl": "pkg:maven/com.google.zxing/core@3.1" }
  ]
}
JSON
jq 'del(.components[0])' both.json > one.json
cat > read.py <<'PY'
import json
from cyclonedx.model.bom import Bom
from lib4sbom.parser import SBOMParser

parser = SBOMParser()
parser.parse_file('both.json')
print('lib4sbom:', *(package['group'] for package in parser.get_packages()))
print('cyclonedx-python-lib:', *sorted(part.group for part in Bom.from_json(json.load(open('both.json'))).components))
PY
code=0
venv/bin/sbomdiff both.json one.json > difference || code=$?
seen="$(venv/bin/python read.py)
sbomdiff of two packages and one: code $code, removed $(sed -n 's/^Removed packages: *//p' difference)"
expected='lib4sbom: com.google.zxing
cyclonedx-python-lib: com.google.zxing org.apache.kafka
sbomdiff of two packages and one: code 0, removed 0'
printf 'lib4sbom 0.10.4, sbomdiff 0.6.0, cyclonedx-python-lib 11.12.0\nexpected: two packages, and one removed\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
