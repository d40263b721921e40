#!/usr/bin/env bash
# nmap stops scripts that exceed --script-timeout. One would guess that its report then names the script and says that it was stopped, as it marks a host that exceeds --host-timeout.
# There is no trace: no element of the script, no message in the normal output, and the scan ends with exit="success" and code 0.
# So "this script found nothing" and "this script was stopped" are the same report.
# A tool that closes findings which a later scan no longer reports closes those of a slow server.
# Only the debugging output (-d), which no report format contains, has a line "timed out".
# Seen with nmap 7.93 (Debian 12).
set -euo pipefail
version=$(nmap --version | awk 'NR == 1 { print $3 }')
[[ "$version" == 7.93 ]] || { echo "needs nmap 7.93, found $version" >&2; exit 2; }
work=$(mktemp -d)
trap 'kill "$server" 2> /dev/null || true; rm -rf "$work"' EXIT
cat > "$work/slow.py" <<'PY'
import http.server
import sys
import time

class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        time.sleep(3)
        try:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'<title>lab</title>')
        except OSError:
            pass

    def log_message(self, *_):
        pass

server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Page)
print(server.server_port, flush=True)
server.serve_forever()
PY
python3 "$work/slow.py" > "$work/port" 2> /dev/null &
server=$!
until [[ -s "$work/port" ]]; do sleep 0.1; done
port=$(< "$work/port")

scan() { nmap -n -Pn -sT -p "$port" --script +http-title "$@" -oX "$work/report.xml" 127.0.0.1 > "$work/text" 2>&1; }
facts() {
  printf '%s: code %s, title in the report %s, "timed out" in XML and text %s, %s\n' "$1" "$2" \
    "$(grep -c 'id="http-title"' "$work/report.xml" || true)" \
    "$(cat "$work/report.xml" "$work/text" | grep -c 'timed out' || true)" \
    "$(grep -o 'exit="[a-z]*"' "$work/report.xml")"
}
seen=$(
  scan && facts 'without limit' $?
  scan --script-timeout 1s && facts '--script-timeout 1s' $?
)
expected='without limit: code 0, title in the report 1, "timed out" in XML and text 0, exit="success"
--script-timeout 1s: code 0, title in the report 0, "timed out" in XML and text 0, exit="success"'
printf 'nmap %s\nexpected: the report says that the script was stopped\nseen:\n%s\n' "$version" "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
