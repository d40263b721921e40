#!/usr/bin/env bash
# Findings in code go to the owners of the file, whom CODEOWNERS names. GitHub's page "About code owners" says that docs/* matches the files of docs but not of folders in it, and shows a comment at the end of a line; GitLab's example writes a blank in a path as "\ ", as .gitignore does.
# One would guess that libraries for the file name the owners that these pages name.
# codeowners (npm) takes the comment for owners, gives docs/* everything below docs, and gives paths with a blank to the owners of an earlier line. codeowners-utils (npm) does the last two.
# There is no error: findings go to the wrong team. github-codeowners (npm) refuses such a file.
# codeowners (PyPI) follows the pages.
# Seen with codeowners 5.1.1 and codeowners-utils 1.0.2 (npm), github-codeowners 0.2.1 and codeowners 0.9.0 (PyPI).
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" codeowners@5.1.1 codeowners-utils@1.0.2 github-codeowners@0.2.1
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check codeowners==0.9.0
mkdir -p project/.github
cat > project/.github/CODEOWNERS <<'TXT'
*              @example/all
*.js           @example/web # until spring
docs/*         @example/docs
/lib/a\ b.txt  @example/lib
TXT
printf '%s\n' app.js docs/page.md docs/sub/page.md 'lib/a b.txt' > paths.txt
cat > read.cjs <<'JS'
const { readFileSync } = require('node:fs')
const Codeowners = require('codeowners')
const { matchFile, parse } = require('codeowners-utils')

const owners = new Codeowners('project')
const entries = parse(readFileSync('project/.github/CODEOWNERS', 'utf8'))
const paths = readFileSync('paths.txt', 'utf8').trim().split('\n')
console.log('codeowners of npm:', paths.map((path) => owners.getOwner(path).join(' ')).join(', '))
console.log('codeowners-utils:', paths.map((path) => matchFile(path, entries).owners.join(' ')).join(', '))
JS
cat > read.py <<'PY'
from codeowners import CodeOwners

owners = CodeOwners(open('project/.github/CODEOWNERS').read())
print('codeowners of PyPI:', ', '.join(' '.join(owner for _, owner in owners.of(path)) for path in open('paths.txt').read().splitlines()))
PY
seen=$(
  node read.cjs
  venv/bin/python read.py
  (cd project && "$work/node_modules/.bin/github-codeowners" who app.js 2>&1 || true) | grep -o -m 1 '# is not a valid owner name in rule'
)
expected='codeowners of npm: @example/web # until spring, @example/docs, @example/docs, @example/all
codeowners-utils: @example/web, @example/docs, @example/docs, @example/all
codeowners of PyPI: @example/web, @example/docs, @example/all, @example/lib
# is not a valid owner name in rule'
printf 'expected: the owners of codeowners (PyPI)\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
