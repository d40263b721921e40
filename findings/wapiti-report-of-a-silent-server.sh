#!/usr/bin/env bash
# A scanner that cannot connect should fail, or say so in its report. wapiti 3.0 does neither.
# For a server that refuses connections it exits with 0 and writes a report of the usual form: all kinds of weaknesses, each with an empty list.
# The report of a clean server that answered has the same fields and the same lists. No field counts pages or requests.
# A reader cannot tell "scanned and clean" from "not scanned", and would close all findings of a server that is down for an hour.
# Later versions (3.1 and above) count the pages that were crawled.
# Seen with wapiti 3.0.4 (Debian 12).
set -euo pipefail
found=$(dpkg-query -W -f '${Version}' wapiti 2> /dev/null || true)
[[ "$found" == 3.0.4* ]] || { echo "needs the Debian package wapiti 3.0.4, found ${found:-none}" >&2; exit 2; }
work=$(mktemp -d)
trap 'kill "$server" 2> /dev/null || true; rm -rf "$work"' EXIT
cat > "$work/server.py" <<'PY'
import http.server

class Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = b'<title>lab</title>'
        self.send_response(200)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Site)
print(server.server_port, flush=True)
server.serve_forever()
PY
python3 "$work/server.py" > "$work/port" 2> /dev/null &
server=$!
until [[ -s "$work/port" ]]; do sleep 0.1; done
export HOME="$work"

# Only one module, so that neither server has a finding.
scan() {
  local code=0
  timeout 60 wapiti -u "http://127.0.0.1:$1/" -m exec --flush-session -f json -o "$work/report.json" > /dev/null 2>&1 || code=$?
  jq -r --arg code "$code" '"code \($code), kinds of weaknesses \(.vulnerabilities | length), findings \([.vulnerabilities[], .anomalies[] | length] | add), facts about the scan: \(.infos | keys | join(" "))"' "$work/report.json"
}
answers=$(scan "$(< "$work/port")")
refuses=$(scan 1)
printf 'wapiti 3.0.4\nexpected: the second report or exit code differs\nserver that answers: %s\nserver that refuses: %s\n' "$answers" "$refuses"
[[ "$answers" == "code 0, "*"findings 0, facts about the scan: "* && "$answers" == "$refuses" ]] || { echo 'The behaviour has changed: the two were equal.' >&2; exit 1; }
