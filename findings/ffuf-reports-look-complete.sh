#!/usr/bin/env bash
# ffuf writes a JSON report at its end. One would guess that the report or the exit code tells whether all words were tried.
# Three runs end with exit code 0 and a report of the same form without results: one that tried every word, one whose server refused every connection, and one that was ended by SIGTERM after a few words.
# The report has no counts of requests and errors; these are only in the progress line on stderr, which -s turns off.
# A supervisor that ends a slow scan politely, or scans a host that is down, stores an empty report as a clean one.
# Seen with ffuf 1.1.0 (Debian 12).
set -euo pipefail
found=$(dpkg-query -W -f '${Version}' ffuf 2> /dev/null || true)
[[ "$found" == 1.1.0* ]] || { echo "needs the Debian package ffuf 1.1.0, found ${found:-none}" >&2; exit 2; }
work=$(mktemp -d)
trap 'kill "$server" 2> /dev/null || true; rm -rf "$work"' EXIT
cat > "$work/server.py" <<'PY'
import http.server
import sys
import time

class Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        print(self.path, file=sys.stderr, flush=True)
        time.sleep(0.05)
        self.send_response(404)
        self.end_headers()

    def log_message(self, *_):
        pass

server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Site)
print(server.server_port, flush=True)
server.serve_forever()
PY
python3 "$work/server.py" > "$work/port" 2>> "$work/requests" &
server=$!
until [[ -s "$work/port" ]]; do sleep 0.1; done
url="http://127.0.0.1:$(< "$work/port")"
seq 20 > "$work/few"
seq 20000 > "$work/many"

report() { jq -r --arg name "$1" --arg code "$2" '"\($name): code \($code), results \(.results), fields \(keys | join(" "))"' "$work/report.json"; }
seen=$(
  cd "$work"
  ffuf -s -u "$url/FUZZ" -w few -o report.json > /dev/null 2>&1 && report 'all words' $?
  ffuf -s -u http://127.0.0.1:1/FUZZ -w few -o report.json > /dev/null 2>&1 && report 'refused' $?
  : > requests
  ffuf -s -t 2 -u "$url/FUZZ" -w many -o report.json > /dev/null 2>&1 &
  until (($(wc -l < requests) > 10)); do sleep 0.1; done
  kill -TERM $!
  wait $! && report 'ended by SIGTERM' $?
)
fields='commandline config results time'
expected="all words: code 0, results [], fields $fields
refused: code 0, results [], fields $fields
ended by SIGTERM: code 0, results [], fields $fields"
printf 'ffuf 1.1.0\nexpected: a code or a field that tells the three apart\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
