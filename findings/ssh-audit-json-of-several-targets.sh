#!/usr/bin/env bash
# ssh-audit -j -T FILE audits several servers and writes one JSON list; one would guess that a server that is down is an element with an error, or is missing.
# The list holds the bare, coloured sentence of the error instead, so that no JSON parser reads the list: the results of the servers that answered are lost too.
# With one target the sentence is all of the standard output.
# The exit code is that of the failed connection (1), although the audit of the other server ended with 3.
# One host that is off spoils the report of a whole network.
# Seen with ssh-audit 3.3.0 and OpenSSH 9.2 (Debian 12).
set -euo pipefail
[[ -x /usr/sbin/sshd ]] || { echo 'needs the Debian package openssh-server' >&2; exit 2; }
work=$(mktemp -d)
trap 'kill "$(cat "$work/pid" 2> /dev/null)" 2> /dev/null || true; rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check ssh-audit==3.3.0
ssh-keygen -q -t ed25519 -N '' -f "$work/key"
mkdir -p /run/sshd
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
/usr/sbin/sshd -f /dev/null -p "$port" -h "$work/key" -o ListenAddress=127.0.0.1 -o PidFile="$work/pid" -o UsePAM=no
until [[ -s "$work/pid" ]]; do sleep 0.1; done

audit() {
  local code=0
  "$work/venv/bin/ssh-audit" -j -T "$work/targets" > "$work/report" 2> /dev/null || code=$?
  printf '%s: code %s, ' "$1" "$code"
  jq -r '"a list of \(length)"' "$work/report" 2> /dev/null || echo 'no JSON'
}
seen=$(
  printf '127.0.0.1:%s\n' "$port" > "$work/targets"
  audit 'one server that answers'
  printf '127.0.0.1:%s\n127.0.0.1:1\n' "$port" > "$work/targets"
  audit 'and one that refuses'
  grep -o 'exception. cannot connect to 127.0.0.1 port 1' "$work/report"
  grep -c '"target": "127.0.0.1:'"$port"'"' "$work/report"
)
expected='one server that answers: code 3, a list of 1
and one that refuses: code 1, no JSON
exception] cannot connect to 127.0.0.1 port 1
1'
printf 'ssh-audit 3.3.0, JSON of a list of targets\nexpected: a list both times\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
