#!/usr/bin/env bash
# A line of known_hosts names hosts by patterns: "*.example.com,!old.example.com" is one line for a whole domain, and names are compared without regard to case.
# One would guess that SSH libraries for Python find the key that ssh finds.
# paramiko compares names as texts, or their hashes: no pattern ever matches, so each host of the domain is unknown to it. A connection fails although ssh trusts the host. asyncssh knows patterns; both respect case, so Host.example.net is another host than host.example.net.
# For paramiko, each host needs a line with its name in lower case.
# Seen with paramiko 5.1.0, asyncssh 2.24.1 and OpenSSH 9.2p1 (Debian 12).
set -euo pipefail
found=$(dpkg-query -W -f '${Version}' openssh-client 2> /dev/null || true)
[[ "$found" == 1:9.2p1* ]] || { echo "needs the Debian package openssh-client 9.2p1, found ${found:-none}" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check paramiko==5.1.0 asyncssh==2.24.1
ssh-keygen -q -t ed25519 -N '' -f key
printf '%s %s\n' '*.example.com,!old.example.com' "$(cut -d ' ' -f 1,2 key.pub)" '192.0.2.?' "$(cut -d ' ' -f 1,2 key.pub)" \
  'Host.example.net' "$(cut -d ' ' -f 1,2 key.pub)" 'plain.example.net' "$(cut -d ' ' -f 1,2 key.pub)" > known_hosts
cat > find.py <<'PY'
import subprocess

import asyncssh
import paramiko

paramikos = paramiko.HostKeys('known_hosts')
asyncs = asyncssh.read_known_hosts('known_hosts')
for host in ('plain.example.net', 'a.example.com', 'old.example.com', '192.0.2.7', 'host.example.net'):
    found = subprocess.run(['ssh-keygen', '-F', host, '-f', 'known_hosts'], capture_output=True).returncode == 0
    print(f'{host}: OpenSSH {found}, paramiko {paramikos.lookup(host) is not None}, asyncssh {len(asyncs.match(host, "", None)[0]) > 0}')
PY
seen=$(venv/bin/python find.py)
expected='plain.example.net: OpenSSH True, paramiko True, asyncssh True
a.example.com: OpenSSH True, paramiko False, asyncssh True
old.example.com: OpenSSH False, paramiko False, asyncssh False
192.0.2.7: OpenSSH True, paramiko False, asyncssh True
host.example.net: OpenSSH True, paramiko False, asyncssh False'
printf 'expected: the answer of OpenSSH three times in each line\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
