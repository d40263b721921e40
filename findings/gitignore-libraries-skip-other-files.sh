#!/usr/bin/env bash
# Scanners of sources and of secrets skip what git ignores. gitignore(5) says that "build/" matches folders of this name at every depth, that a file cannot be included again if its folder is excluded, and that everything below an excluded folder is ignored.
# One would guess that libraries for .gitignore answer like git check-ignore.
# gitignore-parser (npm) finds "build/" in the top folder only, nothing below a folder that is named without a slash, and knows no sets such as [0-9].
# gitignore-parser (PyPI) finds nothing below a folder that a pattern without a slash at its end matches, and takes a file for a folder.
# The GitIgnoreSpec of pathspec includes a file of an excluded folder again.
# A scan reads what git does not have, built files and caches with thousands of findings, or skips a file that git has. igittigitt (PyPI) agrees with git.
# Seen with gitignore-parser 0.0.2 (npm), gitignore-parser 0.1.13 (PyPI), pathspec 1.1.1 and igittigitt 2.3.1; git 2.39.5 (Debian 12) for comparison.
set -euo pipefail
command -v git > /dev/null || { echo 'needs git' >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" gitignore-parser@0.0.2
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check gitignore-parser==0.1.13 pathspec==1.1.1 igittigitt==2.3.1
git init --quiet project
cd project
printf '%s\n' 'build/' '!build/keep.txt' 'cache' 'docs/*' '*.key[0-9]' > .gitignore
mkdir -p build lib/build tools app/cache docs/sub keys
touch build/keep.txt lib/build/out.js tools/build app/cache/page docs/sub/deep.md keys/a.key1
printf '%s\n' build/keep.txt lib/build/out.js tools/build app/cache/page docs/sub/deep.md keys/a.key1 > "$work/paths.txt"
cat > "$work/read.cjs" <<'JS'
const { readFileSync } = require('node:fs')
const ignore = require('gitignore-parser').compile(readFileSync('.gitignore', 'utf8'))

const paths = readFileSync('../paths.txt', 'utf8').trim().split('\n')
console.log('gitignore-parser of npm:', ...paths.map((path) => (ignore.denies(path) ? 'ignored' : 'read')))
JS
cat > "$work/read.py" <<'PY'
import pathlib
import subprocess

import gitignore_parser
import igittigitt
import pathspec

root = pathlib.Path.cwd()
parser = igittigitt.IgnoreParser()
parser.parse_rule_files(root)
readers = {
    'git': lambda path: subprocess.run(['git', 'check-ignore', '--quiet', '--no-index', path]).returncode == 0,
    'gitignore-parser of PyPI': lambda path: gitignore_parser.parse_gitignore(root / '.gitignore')(root / path),
    'pathspec': pathspec.GitIgnoreSpec.from_lines(open('.gitignore')).match_file,
    'igittigitt': lambda path: parser.match(root / path),
}
for name, ignored in readers.items():
    print(f'{name}:', *('ignored' if ignored(path) else 'read' for path in open('../paths.txt').read().split()))
PY
seen=$(node "$work/read.cjs" && "$work/venv/bin/python" "$work/read.py")
expected='gitignore-parser of npm: read read read read ignored read
git: ignored ignored read ignored ignored ignored
gitignore-parser of PyPI: read ignored ignored read read ignored
pathspec: read ignored read ignored ignored ignored
igittigitt: ignored ignored read ignored ignored ignored'
printf 'input: %s\nexpected: the answers of git from each\nseen:\n%s\n' "$(paste -sd' ' "$work/paths.txt")" "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
