#!/usr/bin/env bash
# An advisory says that versions below 2.0.0 are vulnerable and that 2.0.0 is fixed. One would guess that 2.0.0rc1, which is older than 2.0.0, is in the range "<2.0.0".
# For univers it is. For packaging (PyPI) it is not, even when prereleases are asked for: "<2.0.0" excludes the prereleases of 2.0.0 itself.
# semver (npm) excludes 2.0.0-rc.1 and also 1.5.0-beta.1, unless includePrerelease is set. NpmSpec of semantic-version (PyPI), which follows it, includes the first and excludes the second with a lower limit.
# A comparer that takes ranges of advisories for ranges of requirements reports no vulnerability in an installed release candidate.
# Seen with packaging 26.4, univers 32.0.1, semantic-version 2.10.0 and semver 7.8.6.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check packaging==26.4 univers==32.0.1 semantic-version==2.10.0
npm install --silent --no-audit --no-fund --prefix "$work" semver@7.8.6
cat > ask.py <<'PY'
from packaging.specifiers import SpecifierSet
from semantic_version import NpmSpec, Version
from univers.version_range import VersionRange
from univers.versions import PypiVersion, SemverVersion

print('packaging, prereleases: 2.0.0rc1', SpecifierSet('<2.0.0').contains('2.0.0rc1', prereleases=True), '1.5.0b1', SpecifierSet('<2.0.0').contains('1.5.0b1', prereleases=True))
print('univers, PyPI: 2.0.0rc1', PypiVersion('2.0.0rc1') in VersionRange.from_string('vers:pypi/<2.0.0'))
print('univers, npm: 2.0.0-rc.1', SemverVersion('2.0.0-rc.1') in VersionRange.from_string('vers:npm/<2.0.0'))
print('NpmSpec: 2.0.0-rc.1', Version('2.0.0-rc.1') in NpmSpec('<2.0.0'), '1.5.0-beta.1', Version('1.5.0-beta.1') in NpmSpec('>=1.0.0 <2.0.0'))
PY
cat > ask.cjs <<'JS'
const { satisfies } = require('semver')
for (const includePrerelease of [false, true])
  console.log(`semver${includePrerelease ? ', includePrerelease' : ''}: 2.0.0-rc.1 ${satisfies('2.0.0-rc.1', '<2.0.0', { includePrerelease })} 1.5.0-beta.1 ${satisfies('1.5.0-beta.1', '>=1.0.0 <2.0.0', { includePrerelease })}`)
JS
seen=$(venv/bin/python ask.py && node ask.cjs)
expected='packaging, prereleases: 2.0.0rc1 False 1.5.0b1 True
univers, PyPI: 2.0.0rc1 True
univers, npm: 2.0.0-rc.1 True
NpmSpec: 2.0.0-rc.1 True 1.5.0-beta.1 False
semver: 2.0.0-rc.1 false 1.5.0-beta.1 false
semver, includePrerelease: 2.0.0-rc.1 true 1.5.0-beta.1 true'
printf 'expected: each version is in the range below 2.0.0\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
