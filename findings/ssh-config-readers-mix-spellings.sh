#!/usr/bin/env bash
# Hosts to scan and the logins for them often come from ssh_config. Its keywords are the same in any case, and of each the first value that fits the host is used (ssh_config(5)).
# One would guess that libraries for the file find the values that ssh finds.
# ssh-config (npm) finds each spelling of a keyword by itself: a host with "user deploy" before a general "User root" has both, and its User is root. Its option ignoreCase is off by default.
# @jeanp413/ssh-config (npm) takes a line with "host" in small letters for a setting of all hosts, and what follows it for settings of the section before.
# There is no error. A scan logs in as another user, or at another port.
# paramiko (PyPI) agrees with ssh.
# Seen with ssh-config 5.3.0, @jeanp413/ssh-config 4.3.1, paramiko 5.1.0 and OpenSSH 9.2p1 (Debian 12).
set -euo pipefail
[[ "$(ssh -V 2>&1)" == OpenSSH_9.2p1* ]] || { echo 'needs OpenSSH 9.2p1' >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" ssh-config@5.3.0 @jeanp413/ssh-config@4.3.1
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check paramiko==5.1.0
cat > config <<'TXT'
Host db
  Port 2201
host web
  user deploy
  port 2202
Host *
  User root
  Port 22
TXT
for host in db web; do ssh -n -T -G -F config "$host" | awk -v host="$host" '/^user / { user = $2 } /^port / { port = $2 } END { print "ssh: " host, user, port }'; done > ssh.txt
cat > read.cjs <<'JS'
const { readFileSync } = require('node:fs')

const text = readFileSync('config', 'utf8')
for (const name of ['ssh-config', '@jeanp413/ssh-config']) {
  const config = require(name).default.parse(text)
  for (const host of ['db', 'web']) {
    const { User, Port } = config.compute(host)
    console.log(`${name}: ${host} ${User} ${Port}`)
  }
}
JS
cat > read.py <<'PY'
import paramiko

config = paramiko.SSHConfig.from_path('config')
for host in ('db', 'web'):
    print('paramiko:', host, config.lookup(host)['user'], config.lookup(host)['port'])
PY
seen=$(cat ssh.txt && node read.cjs && venv/bin/python read.py)
expected='ssh: db root 2201
ssh: web deploy 2202
ssh-config: db root 2201
ssh-config: web root 22
@jeanp413/ssh-config: db root 2201
@jeanp413/ssh-config: web root 22
paramiko: db root 2201
paramiko: web deploy 2202'
printf 'expected: db root 2201 and web deploy 2202 from each\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
