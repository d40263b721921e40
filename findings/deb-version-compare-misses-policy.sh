#!/usr/bin/env bash
# Whether a Debian package is older than the fixed version of an advisory is decided by comparing versions. A version without a revision has the revision 0, and numbers are compared as numbers, so 1.01 is 1.1 (Debian Policy 4.6, section 5.6.12).
# One would guess that a library which is made for the policy, and quotes it in its page, agrees with dpkg.
# deb-version-compare (npm) takes 1.0 for equal to 1.0-1, 1.0-0 for later than 1.0, and 1.01, 2024.05.01 and revision 09 for earlier than the same without zeros.
# There is no error: a package without a revision counts as fixed by revision 1, and two names of one version as an update.
# pydpkg and univers (PyPI) agree with dpkg.
# Seen with deb-version-compare 1.2.1, pydpkg 1.9.5, univers 32.0.1 and dpkg 1.21.22 (Debian 12).
set -euo pipefail
found=$(dpkg-query -W -f '${Version}' dpkg)
[[ "$found" == 1.21.22* ]] || { echo "needs the Debian package dpkg 1.21.22, found ${found:-none}" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" deb-version-compare@1.2.1
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pydpkg==1.9.5 univers==32.0.1
cat > pairs.txt <<'TXT'
1.0 1.0-1
1.0-0 1.0
1.01 1.1
2024.05.01-1 2024.5.1-1
1.0-09 1.0-9
1.0~rc1-1 1.0-1
2.36-9+deb12u9 2.36-9+deb12u10
TXT
cat > compare.cjs <<'JS'
const { readFileSync } = require('node:fs')
const compare = require('deb-version-compare')

console.log('deb-version-compare:', ...readFileSync('pairs.txt', 'utf8').trim().split('\n').map((pair) => '<=>'[compare(...pair.split(' ')) + 1]))
JS
cat > compare.py <<'PY'
import subprocess

from pydpkg import Dpkg
from univers.versions import DebianVersion

pairs = [line.split() for line in open('pairs.txt')]


def dpkg(left, right):
    return next(sign for sign, name in (('<', 'lt'), ('=', 'eq'), ('>', 'gt')) if subprocess.run(['dpkg', '--compare-versions', left, name, right]).returncode == 0)


def univers(left, right):
    left, right = DebianVersion(left), DebianVersion(right)
    return '<' if left < right else '>' if left > right else '='


print('dpkg:', *(dpkg(*pair) for pair in pairs))
print('pydpkg:', *('<=>'[Dpkg.compare_versions(*pair) + 1] for pair in pairs))
print('univers:', *(univers(*pair) for pair in pairs))
PY
seen=$(venv/bin/python compare.py && node compare.cjs)
expected='dpkg: < = = = = < <
pydpkg: < = = = = < <
univers: < = = = = < <
deb-version-compare: = > < < < < <'
printf 'expected: the signs of dpkg from each\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
