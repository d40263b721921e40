#!/usr/bin/env bash
# Requests for a scan are often handed over as a curl command, as browsers copy it. With -d curl sends a POST, several -d are joined by "&" (curl(1)), -b sends cookies, and a value of a header may have a colon.
# One would guess that libraries which read such commands return the request that curl sends.
# @scrape-do/curl-parser (npm) keeps the last -d, and its method is "get". curlup (npm) does the same, drops cookies, and cuts each header at its second colon. curl-to-json-object (npm) has the method GET and sends the cookies as Set-Cookie, the field of servers.
# uncurl (PyPI) keeps the last -d; it has no -b of curl, and takes cookies for the body of a POST.
# There is no error. A scan that starts from the request tests another one: without a login, or without half of its parameters.
# curl-to-postmanv2 (npm) returns what curl sends.
# Seen with @scrape-do/curl-parser 0.3.0, curlup 1.0.0, curl-to-json-object 0.0.3, curl-to-postmanv2 1.8.4 and uncurl 0.0.11; curl 7.88.1 (Debian 12) for comparison.
set -euo pipefail
curl --version | grep -q '^curl 7\.88\.1 ' || { echo 'needs curl 7.88.1' >&2; exit 2; }
work=$(mktemp -d)
server=
trap '[[ -z "$server" ]] || kill "$server"; rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" @scrape-do/curl-parser@0.3.0 curlup@1.0.0 curl-to-json-object@0.0.3 curl-to-postmanv2@1.8.4
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check uncurl==0.0.11
cat > server.py <<'PY'
from http.server import BaseHTTPRequestHandler, HTTPServer


class Handler(BaseHTTPRequestHandler):
    def answer(self):
        body = self.rfile.read(int(self.headers.get('content-length', 0))).decode()
        with open('curl.txt', 'a') as file:
            print('curl:', self.command, 'body', body or '-', 'cookies', self.headers.get('cookie', '-'), 'x-time', self.headers.get('x-time'), file=file)
        self.send_response(204)
        self.end_headers()

    do_GET = do_POST = answer

    def log_message(self, *_):
        pass


server = HTTPServer(('127.0.0.1', 0), Handler)
with open('port.part', 'w') as file:
    file.write(str(server.server_port))
import os
os.rename('port.part', 'port')
server.serve_forever()
PY
python3 server.py &
server=$!
until [[ -s port ]]; do kill -0 "$server"; sleep 0.1; done
cat > commands.sh <<SH
curl http://127.0.0.1:$(< port)/a -H 'X-Time: 10:30' -d 'user=scan' -d 'role=admin'
curl http://127.0.0.1:$(< port)/a -H 'X-Time: 10:30' -b 'sid=1; theme=dark'
SH
bash commands.sh 2> /dev/null
cat > read.cjs <<'JS'
const { readFileSync } = require('node:fs')
const { parse } = require('@scrape-do/curl-parser')
const curlup = require('curlup')
const toJson = require('curl-to-json-object')
const postman = require('curl-to-postmanv2')

const commands = readFileSync('commands.sh', 'utf8').trim().split('\n')
const show = (name, method, body, cookies, time) => console.log(`${name}: ${method.toUpperCase()} body ${body || '-'} cookies ${cookies || '-'} x-time ${time}`)
const header = (headers, wanted) => headers.find(({ key }) => key.toLowerCase() === wanted)?.value
for (const command of commands) {
  const one = parse(command)
  show('@scrape-do/curl-parser', one.method, one.body, one.cookies?.map?.(({ key, value }) => `${key}=${value}`).join('; ') ?? one.cookies, header(one.headers, 'x-time'))
}
for (const command of commands) {
  const one = (curlup.default ?? Object.values(curlup)[0] ?? curlup)(command)
  show('curlup', one.method, one.data, one.headers.Cookie, one.headers['X-Time'])
}
for (const command of commands) {
  const one = (toJson.default ?? Object.values(toJson)[0] ?? toJson)(command)
  show('curl-to-json-object', one.method, one.data, one.header.Cookie ?? (one.header['Set-Cookie'] && `as Set-Cookie ${one.header['Set-Cookie']}`), one.header['X-Time'])
}
for (const command of commands)
  postman.convert({ type: 'string', data: command }, (_, { output: [{ data }] }) =>
    show('curl-to-postmanv2', data.method, data.body.urlencoded?.map(({ key, value }) => `${key}=${value}`).join('&'), header(data.header, 'cookie'), header(data.header, 'x-time')))
JS
cat > read.py <<'PY'
import uncurl

for command in open('commands.sh'):
    one = uncurl.parse_context(command.strip())
    print('uncurl:', one.method.upper(), 'body', one.data or '-', 'cookies', dict(one.cookies) or '-', 'x-time', one.headers['X-Time'])
PY
seen=$(cat curl.txt && node read.cjs && venv/bin/python read.py)
expected='curl: POST body user=scan&role=admin cookies - x-time 10:30
curl: GET body - cookies sid=1; theme=dark x-time 10:30
@scrape-do/curl-parser: GET body role=admin cookies - x-time 10:30
@scrape-do/curl-parser: GET body - cookies sid=1; theme=dark x-time 10:30
curlup: GET body role=admin cookies - x-time 10
curlup: GET body - cookies - x-time 10
curl-to-json-object: GET body user=scan&role=admin cookies - x-time 10:30
curl-to-json-object: GET body - cookies as Set-Cookie sid=1; theme=dark x-time 10:30
curl-to-postmanv2: POST body user=scan&role=admin cookies - x-time 10:30
curl-to-postmanv2: GET body - cookies sid=1; theme=dark x-time 10:30
uncurl: POST body role=admin cookies - x-time 10:30
uncurl: POST body sid=1; theme=dark cookies - x-time 10:30'
printf 'expected: the two requests of curl from each\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
