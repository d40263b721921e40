#!/usr/bin/env bash
# Wheels for one kind of hardware have a local label in their version: 2.0.0+cu118 is 2.0.0, built for CUDA 11.8. An advisory names the releases: "<=2.0.0" or the list of affected versions.
# One would guess that libraries agree that 2.0.0+cu118 is affected. pip's own library (packaging) and the npm package of Renovate ignore the label, as the specification of versions demands.
# univers, made for the ranges of advisories, takes the build for newer than 2.0.0: neither the range nor the exact version contains it, and the range of fixed versions ">2.0.0" does.
# A comparison by univers needs the version without the label.
# Seen with packaging 26.4, univers 32.0.1 and @renovatebot/pep440 4.2.4.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check packaging==26.4 univers==32.0.1
npm install --silent --no-audit --no-fund --prefix "$work" @renovatebot/pep440@4.2.4
cat > ranges.py <<'PY'
from packaging.specifiers import SpecifierSet
from univers.version_range import VersionRange
from univers.versions import PypiVersion

for version in ('2.0.0', '2.0.0+cu118'):
    answers = [version in SpecifierSet(text) for text in ('<=2.0.0', '==2.0.0', '>2.0.0')]
    print('packaging', version, *answers)
    answers = [PypiVersion(version) in VersionRange.from_string('vers:pypi/' + text) for text in ('<=2.0.0', '2.0.0', '>2.0.0')]
    print('univers', version, *answers)
PY
cat > ranges.mjs <<'JS'
import pep440 from '@renovatebot/pep440'

for (const version of ['2.0.0', '2.0.0+cu118'])
  console.log('pep440', version, ...['<=2.0.0', '==2.0.0', '>2.0.0'].map((text) => pep440.satisfies(version, text)))
JS
seen=$(venv/bin/python ranges.py && node ranges.mjs)
expected='packaging 2.0.0 True True False
univers 2.0.0 True True False
packaging 2.0.0+cu118 True True False
univers 2.0.0+cu118 False False True
pep440 2.0.0 true true false
pep440 2.0.0+cu118 true true false'
printf 'in "<=2.0.0", "==2.0.0" and ">2.0.0"\nexpected: true, true and false in each line\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
