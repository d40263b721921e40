#!/usr/bin/env bash
# whatweb takes URLs, and http://[::1]:8080/ is a valid one. One would guess that it is fetched, or that the run fails.
# whatweb looks the brackets up as a name and finds "no address for [::1]". Its exit code is 0 and its JSON report has no record of the URL, as for a site with nothing to tell.
# The error is a line on standard output. With --no-errors it is gone.
# Dual-stack inventories lose their IPv6 half without a failed step.
# Seen with whatweb 0.5.5 (Debian 12).
set -euo pipefail
found=$(dpkg-query -W -f '${Version}' whatweb 2> /dev/null || true)
[[ "$found" == 0.5.5* ]] || { echo "needs the Debian package whatweb 0.5.5, found ${found:-none}" >&2; exit 2; }
work=$(mktemp -d)
trap 'kill "$server" 2> /dev/null || true; rm -rf "$work"' EXIT
cat > "$work/server.py" <<'PY'
import http.server
import socket

class Server(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6

    def server_bind(self):
        self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        super().server_bind()

server = Server(('::', 0), http.server.SimpleHTTPRequestHandler)
print(server.server_port, flush=True)
server.serve_forever()
PY
mkdir "$work/site"
(cd "$work/site" && exec python3 ../server.py) > "$work/port" 2> /dev/null &
server=$!
until [[ -s "$work/port" ]]; do sleep 0.1; done
port=$(< "$work/port")

seen=$(
  for host in 127.0.0.1 '[::1]'; do
    rm -f "$work/report.json"
    code=0
    whatweb --quiet --log-json="$work/report.json" "http://$host:$port/" > "$work/out" 2>&1 || code=$?
    echo "$host: code $code, records $(grep -c '"target"' "$work/report.json" || true), $(grep -o 'no address for .*]' "$work/out" || echo no error)"
  done
)
expected='127.0.0.1: code 0, records 1, no error
[::1]: code 0, records 0, no address for [::1]'
printf 'whatweb 0.5.5 on one server\nexpected: one record for each address, or a failed run\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
