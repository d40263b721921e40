#!/usr/bin/env bash
# Scans through a proxy often leave out the own network with no_proxy. One would guess that all clients read that variable in one way.
# Only curl and requests know a network; wget, urllib and httpx send such requests to the proxy. httpx is the client of wapiti.
# Only urllib and httpx know a host with its port. "*" stands for all hosts, but not for wget.
# A host that the proxy must not see is seen by it, or a limit of the proxy does not hold, by the client that a scanner was written with.
# Seen with curl 7.88.1 and wget 1.21.3 (Debian 12), Python 3.11, requests 2.32.5 and httpx 0.28.1.
set -euo pipefail
curl --version | grep -q '^curl 7\.88\.1 ' || { echo 'needs curl 7.88.1' >&2; exit 2; }
wget --version | grep -q '^GNU Wget 1\.21\.3 ' || { echo 'needs wget 1.21.3' >&2; exit 2; }
work=$(mktemp -d)
trap 'kill "${lab:-}" 2> /dev/null || true; rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check requests==2.32.5 httpx==0.28.1

# Two servers on loopback: one stands for the proxy, one for the host.
cat > "$work/lab.py" <<'PY'
import http.server, sys, threading
ports = []
for address, name in (('127.0.0.1', 'proxy'), ('127.0.0.2', 'direct')):
    class Handler(http.server.BaseHTTPRequestHandler):
        text = name.encode()
        def do_GET(self):
            self.send_response(200)
            self.send_header('Content-Length', str(len(self.text)))
            self.end_headers()
            self.wfile.write(self.text)
        def log_message(self, *args):
            pass
    server = http.server.ThreadingHTTPServer((address, 0), Handler)
    threading.Thread(target=server.serve_forever).start()
    ports.append(str(server.server_port))
print(*ports, flush=True)
PY
mkfifo "$work/ports"
python3 "$work/lab.py" > "$work/ports" &
lab=$!
read -r proxy host < "$work/ports"
url="http://127.0.0.2:$host/"
python() { "$work/venv/bin/python" -c "$1"; }
unset HTTP_PROXY ALL_PROXY all_proxy NO_PROXY
export http_proxy="http://127.0.0.1:$proxy"

seen=$(for no_proxy in 127.0.0.2 127.0.0.0/8 "127.0.0.2:$host" '*'; do
  export no_proxy
  printf '%s: curl %s, wget %s, urllib %s, requests %s, httpx %s\n' "${no_proxy/%$host/PORT}" \
    "$(curl -sS "$url")" "$(wget -qO- "$url")" \
    "$(python "import urllib.request as client; print(client.urlopen('$url').read().decode())")" \
    "$(python "import requests; print(requests.get('$url').text)")" \
    "$(python "import httpx; print(httpx.get('$url').text)")"
done)
expected='127.0.0.2: curl direct, wget direct, urllib direct, requests direct, httpx direct
127.0.0.0/8: curl direct, wget proxy, urllib proxy, requests direct, httpx proxy
127.0.0.2:PORT: curl proxy, wget proxy, urllib direct, requests proxy, httpx direct
*: curl direct, wget proxy, urllib direct, requests direct, httpx direct'
printf 'expected: direct everywhere\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
