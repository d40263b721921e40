#!/usr/bin/env bash
# "npm sbom" writes an SPDX 2.3 document, and the SPDX project publishes a validator for Python. One would guess that they agree on a project with one dependency.
# The validator refuses the document at its creation time: npm writes milliseconds ("08:27.386Z"), which the format of SPDX 2.3 does not have.
# The whole document is refused, not one field, so a pipeline from npm to this library reads no package.
# With the fraction removed, the document is valid.
# Seen with npm 11.19.1 and spdx-tools 0.8.5.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check spdx-tools==0.8.5
npm install --silent --no-audit --no-fund --prefix "$work/npm" npm@11.19.1
mkdir "$work/lab"
cd "$work/lab"
echo '{"name": "lab", "version": "1.0.0", "license": "MIT", "dependencies": {"ms": "2.1.3"}}' > package.json
npm install --silent --no-audit --no-fund
"$work/npm/node_modules/.bin/npm" sbom --sbom-format spdx > "$work/npm.spdx.json"
sed 's/\("created": "[^".]*\)\.[0-9]*Z/\1Z/' "$work/npm.spdx.json" > "$work/whole-seconds.spdx.json"

check() {
  if "$work/venv/bin/pyspdxtools" --infile "$work/$1" > "$work/out" 2>&1; then echo valid; else grep -o 'does not match format' "$work/out"; fi
}
seen="as written: $(check npm.spdx.json)
with whole seconds: $(check whole-seconds.spdx.json)"
expected='as written: does not match format
with whole seconds: valid'
printf 'npm 11.19.1, spdx-tools 0.8.5\nexpected: valid\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
