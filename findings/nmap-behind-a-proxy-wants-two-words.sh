#!/usr/bin/env bash
# nmap --proxies sends its version detection through an HTTP proxy. One would guess that any proxy that answers CONNECT with 200 will do.
# nmap also compares the words after the number: "200 OK" opens the tunnel, "200 Connection established" does not. The latter is what most proxies answer.
# The port then is "open tcpwrapped", as if the service had closed the connection. Neither the exit code nor the report shows that the tunnel was not used.
# A survey of versions through such a proxy is an inventory without services.
# Seen with nmap 7.93 (Debian 12).
set -euo pipefail
found=$(dpkg-query -W -f '${Version}' nmap 2> /dev/null || true)
[[ "$found" == 7.93* ]] || { echo "needs the Debian package nmap 7.93, found ${found:-none}" >&2; exit 2; }
work=$(mktemp -d)
trap 'kill $(jobs -p) 2> /dev/null || true; rm -rf "$work"' EXIT
cat > "$work/service.py" <<'PY'
import http.server

class Site(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass

server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Site)
print(server.server_port, flush=True)
server.serve_forever()
PY
cat > "$work/proxy.py" <<'PY'
import socket, sys, threading

def copy(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass

def serve(client):
    head = b''
    while b'\r\n\r\n' not in head:
        data = client.recv(4096)
        if not data:
            return
        head += data
    host, port = head.split()[1].decode().rsplit(':', 1)
    service = socket.create_connection((host, int(port)))
    client.sendall(f'HTTP/1.1 {sys.argv[1]}\r\n\r\n'.encode())
    threading.Thread(target=copy, args=(client, service), daemon=True).start()
    copy(service, client)

server = socket.create_server(('127.0.0.1', 0))
print(server.getsockname()[1], flush=True)
while True:
    threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
PY
python3 "$work/service.py" > "$work/service" 2> /dev/null &
until [[ -s "$work/service" ]]; do sleep 0.1; done

scan() {
  local code=0 name
  rm -f "$work/port"
  python3 "$work/proxy.py" "$1" > "$work/port" 2> /dev/null &
  until [[ -s "$work/port" ]]; do sleep 0.1; done
  timeout 120 nmap -n -Pn -sT -sV -p "$(< "$work/service")" --proxies "http://127.0.0.1:$(< "$work/port")" -oX "$work/report.xml" 127.0.0.1 > /dev/null 2>&1 || code=$?
  name=$(grep -o '<service name="[^"]*"' "$work/report.xml" | cut -d '"' -f 2)
  echo "$1: code $code, exit $(grep -o 'exit="[^"]*"' "$work/report.xml" | cut -d '"' -f 2), service $name"
}
seen="$(scan '200 OK')
$(scan '200 Connection established')"
expected='200 OK: code 0, exit success, service http
200 Connection established: code 0, exit success, service tcpwrapped'
printf 'nmap 7.93\nexpected: http behind both proxies\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
