#!/usr/bin/env bash
# Programs read the variable http_proxy, so one would guess that all requests of a scanner appear in an intercepting proxy.
# Scanners in Go use it for other hosts, but never for 127.0.0.0/8, ::1 and localhost, and no setting of the environment changes that.
# gobuster sends its requests to 192.0.2.10 to the proxy, and those to 127.0.0.1 directly. sqlmap uses the proxy for both.
# A trial against a lab on loopback shows an empty proxy log, and a rate or scope limit in a proxy does not hold there. Only the scanner's own proxy flag works for both.
# Seen with gobuster 3.5.0 and sqlmap 1.7.2 (Debian 12).
set -euo pipefail
for package in gobuster=3.5.0 sqlmap=1.7.2; do
  found=$(dpkg-query -W -f '${Version}' "${package%%=*}" 2> /dev/null || true)
  [[ "${found%%-*}" == "${package#*=}" ]] || { echo "needs the Debian package $package, found ${found:-none}" >&2; exit 2; }
done
work=$(mktemp -d)
trap 'kill "$proxy" 2> /dev/null || true; rm -rf "$work"' EXIT
cat > "$work/proxy.py" <<'PY'
import http.server
import sys

class Proxy(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        kind = 'proxied' if self.path.startswith('http://') else 'direct'
        print(kind, file=sys.stderr, flush=True)
        self.send_response(404)
        self.send_header('Content-Length', '0')
        self.end_headers()

    def log_message(self, *_):
        pass

server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Proxy)
print(server.server_port, flush=True)
server.serve_forever()
PY
python3 "$work/proxy.py" > "$work/port" 2>> "$work/log" &
proxy=$!
until [[ -s "$work/port" ]]; do sleep 0.1; done
port=$(< "$work/port")
echo admin > "$work/words"
unset no_proxy NO_PROXY
export http_proxy="http://127.0.0.1:$port" HTTP_PROXY="http://127.0.0.1:$port" HOME="$work"

# The same server is the proxy and the site on loopback: the form of the request line tells which of both was asked.
asked() {
  local name=$1
  shift
  : > "$work/log"
  timeout 30 "$@" > /dev/null 2>&1 || true
  printf '%s: %s\n' "$name" "$(sort -u "$work/log" | paste -s -d ' ')"
}
seen=$(
  asked 'gobuster, 192.0.2.10' gobuster dir -q -u http://192.0.2.10/ -w "$work/words"
  asked 'gobuster, 127.0.0.1' gobuster dir -q -u "http://127.0.0.1:$port/" -w "$work/words"
  asked 'sqlmap, 127.0.0.1' sqlmap --batch --technique=E -u "http://127.0.0.1:$port/?id=1"
)
expected='gobuster, 192.0.2.10: proxied
gobuster, 127.0.0.1: direct
sqlmap, 127.0.0.1: proxied'
printf 'gobuster 3.5.0, sqlmap 1.7.2 with http_proxy\nexpected: proxied in all cases\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
