#!/usr/bin/env bash
# pip-audit looks installed packages up in a database of advisories. One would guess that it fails, or warns, when it could look up none of them.
# For an environment whose only package is not on PyPI it prints "No known vulnerabilities found" and exits with 0.
# Only the JSON has a skip_reason at the package.
# A pipeline for internal packages is green without a single check. The option --strict makes it fail.
# Seen with pip-audit 2.10.1.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pip-audit==2.10.1
cd "$work"
mkdir -p site/scanfarm_lab_unpublished-1.0.dist-info
printf 'Metadata-Version: 2.1\nName: scanfarm-lab-unpublished\nVersion: 1.0\n' > site/scanfarm_lab_unpublished-1.0.dist-info/METADATA

audit() {
  local code=0
  venv/bin/pip-audit --progress-spinner off --path site --format json "$@" > report.json 2> message || code=$?
  echo "code $code, $(grep -o 'No known vulnerabilities found' message || echo 'an error')"
}
seen="default: $(audit), packages checked $(jq '[.dependencies[] | select(has("skip_reason") | not)] | length' report.json)
--strict: $(audit --strict)"
expected='default: code 0, No known vulnerabilities found, packages checked 0
--strict: code 1, an error'
printf 'pip-audit 2.10.1\nexpected: no success when nothing was checked\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
