#!/usr/bin/env bash
# Advisories of npm have ranges such as "<=1.2" and "1.2 || 2.1", which mean all of 1.2.x. Ranges in the vers notation quote reserved characters: 1%3A2.0 is version 2.0 of epoch 1.
# One would guess that univers, the library of the vers notation, reads both.
# It fills the missing numbers of npm ranges with zeros: 1.2.7 is not in "<=1.2" and not in "1.2", and is in ">1.2". "~1.2", "1.x" and ranges with " - " are right. The semver package of npm, whose notation it is, says the opposite.
# A quoted epoch is taken for a part of the version: an rpm package below the fix counts as fixed. For deb the same range is refused.
# Ranges must be unquoted, and partial versions of npm be written out, before univers reads them.
# Seen with univers 32.0.1 and semver 7.8.6.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check univers==32.0.1
npm install --silent --no-audit --no-fund --prefix "$work" semver@7.8.6
cat > ranges.py <<'PY'
from univers.version_range import NpmVersionRange, VersionRange
from univers.versions import DebianVersion, InvalidVersion, RpmVersion, SemverVersion

for text in ('<=1.2', '1.2', '>1.2', '~1.2', '1.x', '1.0 - 1.2'):
    print('univers', text, str(SemverVersion('1.2.7') in NpmVersionRange.from_native(text)).lower())
for kind, version in (('rpm', RpmVersion('1:1.9-1')), ('deb', DebianVersion('1:1.9-1'))):
    for epoch in ('1:', '1%3A'):
        text = f'vers:{kind}/<{epoch}2.0-1'
        try:
            print(text, str(version in VersionRange.from_string(text)).lower())
        except InvalidVersion:
            print(text, 'refused')
PY
cat > ranges.mjs <<'JS'
import semver from 'semver'

for (const text of ['<=1.2', '1.2', '>1.2', '~1.2', '1.x', '1.0 - 1.2']) console.log('semver', text, semver.satisfies('1.2.7', text))
JS
seen=$(node ranges.mjs && venv/bin/python ranges.py)
expected='semver <=1.2 true
semver 1.2 true
semver >1.2 false
semver ~1.2 true
semver 1.x true
semver 1.0 - 1.2 true
univers <=1.2 false
univers 1.2 false
univers >1.2 true
univers ~1.2 true
univers 1.x true
univers 1.0 - 1.2 true
vers:rpm/<1:2.0-1 true
vers:rpm/<1%3A2.0-1 false
vers:deb/<1:2.0-1 true
vers:deb/<1%3A2.0-1 refused'
printf '1.2.7 in ranges of npm, 1:1.9-1 in ranges below 1:2.0-1\nexpected: the same from both, and true for each quoted range\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
