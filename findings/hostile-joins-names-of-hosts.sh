#!/usr/bin/env bash
# The file /etc/hosts names the hosts of a lab: an address, its name and any aliases, with any number of blanks and tabs between them (hosts(5)); the system also accepts them before the address.
# One would guess that a library for the file returns the addresses and names that the system finds.
# hostile (npm) returns name and aliases as one name, "a.example a". For a line that begins with blanks the address is a blank, and the real one is in the name.
# There is no error. A list of targets that is made of the file has names that do not exist, and lacks addresses.
# python-hosts (PyPI) returns what getent finds.
# Seen with hostile 1.4.0, python-hosts 1.1.3 and getent of glibc 2.36 (Debian 12), in a mount namespace of its own user.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" hostile@1.4.0
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check python-hosts==1.1.3
printf '192.0.2.1 a.example a # lab\n  192.0.2.2\tb.example\n' > hosts
unshare --user --map-root-user --mount bash -c 'mount --bind hosts /etc/hosts; getent -s files ahosts a.example; getent -s files ahosts a; getent -s files ahosts b.example' | awk '$2 == "STREAM" { print "getent:", $1, $3 }' > getent.txt
cat > read.cjs <<'JS'
for (const line of require('hostile').getFile('hosts', false)) console.log('hostile:', JSON.stringify(line))
JS
cat > read.py <<'PY'
from python_hosts import Hosts

for entry in Hosts(path='hosts').entries:
    print('python-hosts:', entry.address, *entry.names)
PY
seen=$(cat getent.txt && node read.cjs && venv/bin/python read.py)
expected='getent: 192.0.2.1 a.example
getent: 192.0.2.1 a.example
getent: 192.0.2.2 b.example
hostile: ["192.0.2.1","a.example a"]
hostile: [" ","192.0.2.2\tb.example"]
python-hosts: 192.0.2.1 a.example a
python-hosts: 192.0.2.2 b.example'
printf 'expected: 192.0.2.1 with the names a.example and a, 192.0.2.2 with b.example\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
