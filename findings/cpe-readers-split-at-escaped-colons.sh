#!/usr/bin/env bash
# A CPE name has colons between its parts; a colon inside a part is escaped, as in the names of Perl modules: "http\:\:daemon" in version 6.14. One would guess that libraries for CPE read such a name.
# cpeparser and cpe-utils (PyPI) and @thefaultvault/tfv-cpe-parser (npm) split at each colon: the product is "\" and the version "daemon_project" (or "daemon project"), without an error.
# cpe and cpematcher-ng (PyPI) read it right.
# A search for vulnerabilities by product and version finds none for these modules, and the inventory has products named "\".
# Seen with cpeparser 0.0.2, cpe-utils 0.1.0, @thefaultvault/tfv-cpe-parser 1.3.0, cpe 1.3.1 and cpematcher-ng 1.1.0.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check cpeparser==0.0.2 cpe-utils==0.1.0 cpe==1.3.1 cpematcher-ng==1.1.0
npm install --silent --no-audit --no-fund --prefix "$work" @thefaultvault/tfv-cpe-parser@1.3.0
name='cpe:2.3:a:http\:\:daemon_project:http\:\:daemon:6.14:*:*:*:*:perl:*:*'
cat > read.py <<'PY'
import sys

import cpe
import cpe_utils
from cpematcher.core import CPE
from cpeparser import CpeParser

name = sys.argv[1]
parsed = CpeParser().parser(name)
print('cpeparser:', parsed['product'], parsed['version'])
parsed = cpe_utils.CPE(name)
print('cpe-utils:', parsed.product, parsed.version)
parsed = cpe.CPE(name)
print('cpe:', *parsed.get_product(), *parsed.get_version())
print('cpematcher-ng:', CPE(name).product)
PY
cat > read.cjs <<'JS'
const { CpeParser } = require('@thefaultvault/tfv-cpe-parser')
const { product, version } = new CpeParser().parse(process.argv[2])
console.log(`tfv-cpe-parser: ${product} ${version}`)
JS
seen=$(
  venv/bin/python read.py "$name"
  node read.cjs "$name"
)
expected='cpeparser: \ daemon_project
cpe-utils: \ daemon_project
cpe: http\:\:daemon 6.14
cpematcher-ng: http::daemon
tfv-cpe-parser: \ daemon project'
printf 'input: %s\nexpected: the product http::daemon, with or without backslashes\nseen:\n%s\n' "$name" "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
