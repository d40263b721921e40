#!/usr/bin/env bash
# Scans of sources start from the addresses of repositories. git takes "git@host:path" for ssh, and a number behind that colon is a part of the path; a port is written ssh://git@host:2222/path (git-clone(1), GIT URLS). IPv6 hosts stand in brackets.
# One would guess that libraries for these addresses find the host, port and path that git uses.
# giturlparse (PyPI) finds port 2222 in git@host:2222/team/app.git, ":8443" with its colon in an address of https, and the host "[2001" of an IPv6 address. An address without a user, as an alias of ssh_config needs it, is not valid for it.
# giturl (npm) makes the port of an address of ssh or https the first folder of the web page.
# There is no error: a scanner asks another port, page or host, and a repository has two names in an inventory.
# git-url-parse (npm) reads all but the alias.
# Seen with giturlparse 0.16.0, giturl 2.0.0 and git-url-parse 16.1.0.
set -euo pipefail
command -v git > /dev/null || { echo 'needs git' >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" giturl@2.0.0 git-url-parse@16.1.0
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check giturlparse==0.16.0
cat > addresses.txt <<'TXT'
git@host.example:2222/team/app.git
ssh://git@host.example:2222/team/app.git
ssh://git@[2001:db8::1]:2222/team/app.git
https://host.example:8443/team/app.git
lab:team/app.git
TXT
# What git runs to reach a repository: ssh with these arguments.
cat > ssh <<'SH'
#!/bin/sh
printf 'ssh %s\n' "$*" | sed 's/-o SendEnv=[A-Z_]* //' >> asked.txt
exit 1
SH
chmod +x ssh
while read -r address; do
  case $address in https:*) continue ;; esac
  GIT_SSH="$work/ssh" GIT_SSH_VARIANT=ssh git ls-remote "$address" > log 2>&1 || true
done < addresses.txt
cat > read.py <<'PY'
import contextlib
import io

import giturlparse

for address in open('addresses.txt').read().split():
    with contextlib.redirect_stdout(io.StringIO()):
        url = giturlparse.parse(address)
    print('giturlparse:', f'host {url.domain}, port {url.port}, path {url.pathname}' if url.valid else 'not valid')
PY
cat > read.cjs <<'JS'
const { readFileSync } = require('node:fs')
const giturl = require('giturl')

;(async () => {
  const { default: parse } = await import('git-url-parse')
  const addresses = readFileSync('addresses.txt', 'utf8').trim().split('\n')
  for (const address of addresses) console.log('giturl:', giturl.parse(address))
  for (const { resource, port, pathname } of addresses.map((address) => parse(address))) console.log(`git-url-parse: host ${resource}, port ${port}, path ${pathname}`)
})()
JS
seen=$(cat asked.txt && venv/bin/python read.py && node read.cjs)
expected='ssh git@host.example git-upload-pack '\''2222/team/app.git'\''
ssh -p 2222 git@host.example git-upload-pack '\''/team/app.git'\''
ssh -p 2222 git@2001:db8::1 git-upload-pack '\''/team/app.git'\''
ssh lab git-upload-pack '\''team/app.git'\''
giturlparse: host host.example, port 2222, path /team/app.git
giturlparse: host host.example, port 2222, path /team/app.git
giturlparse: host [2001, port , path db8::1]:2222/team/app.git
giturlparse: host host.example, port :8443, path /team/app.git
giturlparse: not valid
giturl: http://host.example/2222/team/app
giturl: http://host.example/2222/team/app
giturl: http://[2001/db8::1]:2222/team/app
giturl: https://host.example/8443/team/app
giturl: http://lab/team/app
git-url-parse: host host.example, port , path /2222/team/app.git
git-url-parse: host host.example, port 2222, path /team/app.git
git-url-parse: host [2001:db8::1], port 2222, path /team/app.git
git-url-parse: host host.example, port 8443, path /team/app.git
git-url-parse: host , port , path team/app.git'
printf 'expected: the hosts, ports and paths of git\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
