#!/usr/bin/env bash
# Versions of Maven packages may end with a word. "ga", "final" and "release" mean the release itself, so 3.2.18.RELEASE is 3.2.18 (Maven's POM reference, "Version Order Specification"); Spring named its releases so for years.
# One would guess that univers, the library of the vers notation, compares them as Maven does.
# It takes .Final and -GA for the release, but 3.2.18.RELEASE for newer than 3.2.18: the range "<=3.2.18" does not contain it, and the range of fixed versions ">3.2.18" does.
# An advisory whose range names versions without the word misses the packages that have it.
# mvncmp (npm) and Maven itself take both for equal.
# Seen with univers 32.0.1, mvncmp 1.0.0 and Maven 3.8.7 (Debian 12).
set -euo pipefail
jars=/usr/share/maven/lib
[[ "$(mvn --version 2> /dev/null)" == *'Apache Maven 3.8.7'* ]] || { echo 'needs the Debian package maven 3.8.7' >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" mvncmp@1.0.0
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check univers==32.0.1
versions=(3.2.18.RELEASE 3.2.18.Final 3.2.18-GA 3.2.18-SNAPSHOT)
for version in "${versions[@]}"; do
  java -cp "$jars/maven-artifact-3.x.jar:$jars/commons-lang3.jar" org.apache.maven.artifact.versioning.ComparableVersion "$version" 3.2.18 | awk 'NF == 3 { print "Maven: " $0 }'
done > maven.txt
cat > compare.cjs <<'JS'
const { compare } = require('mvncmp')

for (const version of process.argv.slice(2)) console.log(`mvncmp: ${version} ${['<', '==', '>'][Math.sign(compare(version, '3.2.18')) + 1]} 3.2.18`)
JS
cat > compare.py <<'PY'
import sys

from univers.version_range import VersionRange
from univers.versions import MavenVersion

release = MavenVersion('3.2.18')
for text in sys.argv[1:]:
    version = MavenVersion(text)
    print('univers:', text, '<' if version < release else '>' if version > release else '==', '3.2.18, in <=3.2.18:', version in VersionRange.from_string('vers:maven/<=3.2.18'))
PY
seen=$(sed 's/  */ /g' maven.txt && node compare.cjs "${versions[@]}" && venv/bin/python compare.py "${versions[@]}")
expected='Maven: 3.2.18.RELEASE == 3.2.18
Maven: 3.2.18.Final == 3.2.18
Maven: 3.2.18-GA == 3.2.18
Maven: 3.2.18-SNAPSHOT < 3.2.18
mvncmp: 3.2.18.RELEASE == 3.2.18
mvncmp: 3.2.18.Final == 3.2.18
mvncmp: 3.2.18-GA == 3.2.18
mvncmp: 3.2.18-SNAPSHOT < 3.2.18
univers: 3.2.18.RELEASE > 3.2.18, in <=3.2.18: False
univers: 3.2.18.Final == 3.2.18, in <=3.2.18: True
univers: 3.2.18-GA == 3.2.18, in <=3.2.18: True
univers: 3.2.18-SNAPSHOT < 3.2.18, in <=3.2.18: True'
printf 'expected: the signs of Maven from each, and all in the range\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
