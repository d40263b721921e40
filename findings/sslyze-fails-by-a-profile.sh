#!/usr/bin/env bash
# One would guess that the exit code of sslyze tells whether the scan worked, and that naming a check only limits what is done.
# Without named checks, sslyze also compares the server with the "intermediate" profile of Mozilla, and exits with 1 when the server does not comply, as nearly every internal server with a certificate of its own.
# With a named check, the comparison is off, and the exit code is 0 for the same server.
# A supervisor that takes 1 for a failed scan discards a complete report, or retries it; the JSON says COMPLETED in both cases.
# Seen with sslyze 6.3.1.
set -euo pipefail
work=$(mktemp -d)
trap 'kill "$server" 2> /dev/null || true; rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check sslyze==6.3.1
cd "$work"
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 30 -subj /CN=localhost 2> /dev/null
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
openssl s_server -accept "127.0.0.1:$port" -key key.pem -cert cert.pem -www > /dev/null 2>&1 &
server=$!
until (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null; do sleep 0.1; done

scan() {
  local code=0
  venv/bin/sslyze "$@" --json_out=report.json "127.0.0.1:$port" > text 2>&1 || code=$?
  echo "code $code, $(jq -r '.server_scan_results[0].scan_status' report.json), compared with Mozilla's profile: $(grep -c 'Checking results against Mozilla' text || true)"
}
seen="default: $(scan)
--certinfo: $(scan --certinfo)"
expected="default: code 1, COMPLETED, compared with Mozilla's profile: 1
--certinfo: code 0, COMPLETED, compared with Mozilla's profile: 0"
printf 'sslyze 6.3.1\nexpected: code 0 for both scans\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
