#!/usr/bin/env bash
# hydra -b json ends its report with the fields "success" and "errormessages". One would guess that they tell whether the server could be tested.
# For a server that refuses every connection, success is true and the list of messages is empty, exactly as for one that refused each password.
# Only the exit code differs: 255 against 0. With a list of servers (-M) it no longer tells which one was not tested.
# A reader of the report takes "could not connect" for "has no weak password".
# Seen with hydra 9.4 (Debian 12).
set -euo pipefail
found=$(dpkg-query -W -f '${Version}' hydra 2> /dev/null || true)
[[ "$found" == 9.4* ]] || { echo "needs the Debian package hydra 9.4, found ${found:-none}" >&2; exit 2; }
work=$(mktemp -d)
trap 'kill "$server" 2> /dev/null || true; rm -rf "$work"' EXIT
cat > "$work/server.py" <<'PY'
import http.server

class Locked(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(401)
        self.send_header('WWW-Authenticate', 'Basic realm="lab"')
        self.send_header('Content-Length', '0')
        self.end_headers()

    def log_message(self, *_):
        pass

server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Locked)
print(server.server_port, flush=True)
server.serve_forever()
PY
python3 "$work/server.py" > "$work/port" &
server=$!
until [[ -s "$work/port" ]]; do sleep 0.1; done
printf 'one\ntwo\n' > "$work/words"

scan() {
  local code=0
  timeout 60 hydra -l user -P "$work/words" -t 1 -b json -o "$work/report.json" -s "$1" 127.0.0.1 http-get / > /dev/null 2>&1 || code=$?
  jq -r --arg code "$code" '"code \($code), success \(.success), messages \(.errormessages | length), found \(.quantityfound)"' "$work/report.json"
}
seen="refuses each password: $(scan "$(< "$work/port")")
refuses connections: $(scan 1)"
expected='refuses each password: code 0, success true, messages 0, found 0
refuses connections: code 255, success true, messages 0, found 0'
printf 'hydra 9.4\nexpected: the second report has success false or a message\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
