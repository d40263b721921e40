#!/usr/bin/env bash
# whatweb has --proxy HOST:PORT, and its help names no limit. One would guess that it works for https as it does for http.
# For https it asks the proxy for a tunnel, gets it, and gives up: "SSL session is not started yet". Each https target fails, whatever the proxy is.
# The exit code is 0, and the JSON report is an empty list. curl gets the page through the same proxy.
# Seen with whatweb 0.5.5 (Debian 12).
set -euo pipefail
found=$(dpkg-query -W -f '${Version}' whatweb 2> /dev/null || true)
[[ "$found" == 0.5.5* ]] || { echo "needs the Debian package whatweb 0.5.5, found ${found:-none}" >&2; exit 2; }
work=$(mktemp -d)
trap 'kill $(jobs -p) 2> /dev/null || true; rm -rf "$work"' EXIT
cd "$work"
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 30 -subj /CN=lab 2> /dev/null
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
openssl s_server -accept "127.0.0.1:$port" -key key.pem -cert cert.pem -www > /dev/null 2>&1 &
until (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null; do sleep 0.1; done
cat > proxy.mjs <<'JS'
import { createServer } from 'node:http'
import { connect } from 'node:net'

const proxy = createServer()
proxy.on('connect', (request, socket, head) => {
  const [host, port] = request.url.split(':')
  const service = connect(Number(port), host, () => {
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    service.write(head)
    service.pipe(socket)
    socket.pipe(service)
  })
  for (const side of [service, socket]) side.on('error', () => undefined)
})
proxy.listen(0, '127.0.0.1', () => console.log(proxy.address().port))
JS
node proxy.mjs > proxy &
until [[ -s proxy ]]; do sleep 0.1; done

scan() {
  local code=0
  rm -f report.json
  timeout 60 whatweb --log-json=report.json "$@" "https://127.0.0.1:$port/" > out 2>&1 || code=$?
  echo "code $code, records $(jq '[.[] | select(.http_status)] | length' report.json), says: $(grep -o 'SSL session.*yet' out || echo nothing)"
}
seen="direct: $(scan)
by the proxy: $(scan --proxy "127.0.0.1:$(< proxy)")
curl by the proxy: $(curl -sk -o /dev/null -w '%{http_code}' -x "127.0.0.1:$(< proxy)" "https://127.0.0.1:$port/")"
expected='direct: code 0, records 1, says: nothing
by the proxy: code 0, records 0, says: SSL session is not started yet
curl by the proxy: 200'
printf 'whatweb 0.5.5\nexpected: one record in both reports\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
