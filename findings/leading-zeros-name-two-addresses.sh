#!/usr/bin/env bash
# Lists of targets from spreadsheets have addresses like 127.0.0.010. One would guess that all tools of a scan take such a text for the same host.
# nmap and masscan read 127.0.0.10; curl, wget and Node read the last number as octal, 127.0.0.8. Python 3.11 refuses the text as an address, but its sockets also take 127.0.0.8.
# So the port scan looks at one host and the requests go to another one, which no list of targets names; a check of the scope can be right for one of both only.
# nmap -sL and masscan --echo send nothing, and all other addresses here are loopback.
# Seen with nmap 7.93, masscan 1.3.2, curl 7.88.1 and wget 1.21.3 (Debian 12), Node 20 and Python 3.11.
set -euo pipefail
needs() { [[ $("$1" --version 2> /dev/null) == *"$2"* ]] || { echo "needs $2" >&2; exit 2; }; }
needs nmap 'Nmap version 7.93'
needs masscan 'Masscan version 1.3.2'
needs curl 'curl 7.88.1'
needs wget 'Wget 1.21.3'
work=$(mktemp -d)
trap 'kill "${lab:-}" 2> /dev/null || true; rm -rf "$work"' EXIT
target=127.0.0.010

# Says at which of its addresses it was asked.
cat > "$work/lab.py" <<'PY'
import http.server
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        text = self.connection.getsockname()[0].encode()
        self.send_response(200)
        self.send_header('Content-Length', str(len(text)))
        self.end_headers()
        self.wfile.write(text)
    def log_message(self, *args):
        pass
server = http.server.ThreadingHTTPServer(('0.0.0.0', 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
PY
mkfifo "$work/port"
python3 "$work/lab.py" > "$work/port" &
lab=$!
read -r port < "$work/port"
url="http://$target:$port/"

seen="nmap $(nmap -n -sL "$target" | sed -n 's/^Nmap scan report for //p')
masscan $(masscan "$target" -p 1 --echo 2> /dev/null | sed -n 's/^range = //p')
curl $(curl -sS --noproxy '*' "$url")
wget $(wget -qO- --no-proxy "$url")
Node $(node -e "fetch('$url').then((answer) => answer.text()).then(console.log)")
ipaddress $(python3 -c "import ipaddress; ipaddress.IPv4Address('$target')" 2>&1 | grep -o 'Leading zeros are not permitted')
urllib $(env -u http_proxy python3 -c "import urllib.request as client; print(client.urlopen('$url').read().decode())")"
expected='nmap 127.0.0.10
masscan 127.0.0.10
curl 127.0.0.8
wget 127.0.0.8
Node 127.0.0.8
ipaddress Leading zeros are not permitted
urllib 127.0.0.8'
printf 'expected: one address for %s\nseen:\n%s\n' "$target" "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
