#!/usr/bin/env bash
# reptor turns the JSON report of sslyze into notes. A scan of several servers, one of which refused the connection, should give notes about the others.
# reptor prints nothing for the whole report: 'NoneType' object has no attribute 'items', with exit code 2. A report of a scan with only some of the checks (--certinfo) ends in the same way.
# Who scans a network has to scan each server by itself, with all checks.
# Seen with reptor 0.39 and sslyze 6.2.0.
set -euo pipefail
work=$(mktemp -d)
server=
trap '[[ -z "$server" ]] || kill "$server"; rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check reptor==0.39 sslyze==6.2.0
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 30 -subj /CN=lab.test 2> /dev/null
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
port=$(free_port)
openssl s_server -accept "127.0.0.1:$port" -key key.pem -cert cert.pem -www -quiet > log 2>&1 &
server=$!
until (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null; do sleep 0.1; done

notes() {
  local code=0
  venv/bin/sslyze --json_out report.json "${@:2}" > /dev/null || true
  HOME=$work venv/bin/reptor sslyze --format -i report.json > notes 2> errors || code=$?
  echo "$1: code $code, $(grep -c '^## ' notes || true) server"
}
seen="$(notes 'one server' "127.0.0.1:$port")
$(notes 'and one that refuses' "127.0.0.1:$port" "127.0.0.1:$(free_port)")
$(notes 'one check' --certinfo "127.0.0.1:$port")"
expected='one server: code 0, 1 server
and one that refuses: code 2, 0 server
one check: code 2, 0 server'
printf 'reptor 0.39, sslyze 6.2.0\nexpected: notes about one server, three times\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
