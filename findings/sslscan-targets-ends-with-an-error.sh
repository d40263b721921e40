#!/usr/bin/env bash
# sslscan writes an error element into its XML when a host could not be tested. One would guess that a report with an error is incomplete.
# With --targets=FILE every report ends with "Targets file FILE does not exist.", although the file was read and all of its hosts were tested.
# The exit code is 0, as it also is when a host refuses. The same host named on the command line gives a report without an error.
# A reader that trusts the element never gets a complete scan from a list, and one that ignores errors misses the hosts that refused.
# Seen with sslscan 2.0.7 (Debian 12).
set -euo pipefail
found=$(dpkg-query -W -f '${Version}' sslscan 2> /dev/null || true)
[[ "$found" == 2.0.7* ]] || { echo "needs the Debian package sslscan 2.0.7, found ${found:-none}" >&2; exit 2; }
work=$(mktemp -d)
trap 'kill "$server" 2> /dev/null || true; rm -rf "$work"' EXIT
cd "$work"
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 30 -subj /CN=lab 2> /dev/null
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
openssl s_server -accept "127.0.0.1:$port" -key key.pem -cert cert.pem -www > /dev/null 2>&1 &
server=$!
until (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null; do sleep 0.1; done
echo "127.0.0.1:$port" > targets.txt

scan() {
  local code=0
  timeout 60 sslscan --xml=report.xml "$@" > /dev/null 2>&1 || code=$?
  echo "code $code, certificates $(grep -c '<certificate type="short">' report.xml || true), error: $(grep -o 'Targets file .*exist' report.xml || echo none)"
}
seen="host: $(scan "127.0.0.1:$port")
list: $(scan --targets=targets.txt)"
expected='host: code 0, certificates 1, error: none
list: code 0, certificates 1, error: Targets file targets.txt does not exist'
printf 'sslscan 2.0.7\nexpected: no error in either report\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
