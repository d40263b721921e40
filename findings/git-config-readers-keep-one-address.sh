#!/usr/bin/env bash
# Scanners of sources and of secrets read the addresses of a repository from .git/config. A variable may occur several times there and is then a list: git pushes to each pushurl. Names of sections ignore case, a value may go on behind a backslash, and the part behind the section may have dots, as in [http "https://host.example/"] (git-config(1), CONFIGURATION FILE).
# One would guess that libraries for the file find what "git config" lists.
# gitconfiglocal, parse-git-config and git-config (npm) keep the last address of a list. They do not find [Remote "origin"] beside [remote "origin"], and cut a value at the backslash; the first two make a variable of its second half.
# gitconfiglocal splits https://host.example at the dot, as it does the name of a remote: up.stream is not found. git-config leaves quotes and comments in the value.
# There is no error: an address to which code is pushed is missing in an inventory.
# Seen with gitconfiglocal 2.1.0, parse-git-config 3.0.0 and git-config 0.0.7 (npm).
set -euo pipefail
command -v git > /dev/null || { echo 'needs git' >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" gitconfiglocal@2.1.0 parse-git-config@3.0.0 git-config@0.0.7
mkdir .git
cat > .git/config <<'TXT'
[remote "origin"]
	url = "https://host.example/app.git" ; the new place
	pushurl = ssh://one.example/app.git
	pushurl = ssh://two.example/app.git
[Remote "origin"]
	proxy = http://proxy.example:\
3128
[remote "up.stream"]
	url = ssh://three.example/app.git
[http "https://host.example/"]
	sslVerify = false
TXT
cat > read.cjs <<'JS'
const show = (name, value, path = '') => {
  if (value === null || typeof value !== 'object') console.log(`${name}: ${path}=${value}`)
  else for (const [key, inner] of Object.entries(value)) show(name, inner, path === '' ? key : `${path} > ${key}`)
}
require('gitconfiglocal')('.', (error, config) => {
  show('gitconfiglocal', config)
  show('parse-git-config', require('parse-git-config').sync({ cwd: '.', path: '.git/config', expandKeys: true }))
  require('git-config')('.git/config', (failure, other) => show('git-config', other))
})
JS
seen=$(git config --file .git/config --list | sed 's/^/git: /' && node read.cjs)
expected='git: remote.origin.url=https://host.example/app.git
git: remote.origin.pushurl=ssh://one.example/app.git
git: remote.origin.pushurl=ssh://two.example/app.git
git: remote.origin.proxy=http://proxy.example:3128
git: remote.up.stream.url=ssh://three.example/app.git
git: http.https://host.example/.sslverify=false
gitconfiglocal: remote > origin > url="https://host.example/app.git"
gitconfiglocal: remote > origin > pushurl=ssh://two.example/app.git
gitconfiglocal: remote > up > stream" > url=ssh://three.example/app.git
gitconfiglocal: Remote > origin > 3128=true
gitconfiglocal: Remote > origin > proxy=http://proxy.example:\
gitconfiglocal: http > https://host > example/" > sslVerify=false
parse-git-config: remote > origin > url="https://host.example/app.git"
parse-git-config: remote > origin > pushurl=ssh://two.example/app.git
parse-git-config: remote > up.stream > url=ssh://three.example/app.git
parse-git-config: Remote > origin > 3128=true
parse-git-config: Remote > origin > proxy=http://proxy.example:\
parse-git-config: http > https://host.example/ > sslVerify=false
git-config: remote "origin" > url="https://host.example/app.git" ; the new place
git-config: remote "origin" > pushurl=ssh://two.example/app.git
git-config: Remote "origin" > proxy=http://proxy.example:\
git-config: remote "up.stream" > url=ssh://three.example/app.git
git-config: http "https://host.example/" > sslVerify=false'
printf 'expected: what git lists\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
