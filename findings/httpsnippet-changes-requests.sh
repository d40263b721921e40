#!/usr/bin/env bash
# Proxies and browsers keep requests as HAR: lists of headers, cookies and posted parameters, each with name and value, which may repeat, or the text that was posted (HAR 1.2). httpsnippet (npm) makes commands and programs of it, to repeat a request that a scan has found.
# One would guess that each of them sends the request of the file.
# curl, Python and fetch escape the value of a cookie again: a=b/c+d, whose characters all may stand in a cookie (RFC 6265, section 4.1.1), becomes a%3Db%2Fc%2Bd, and a server that takes the value as it stands does not find the session. Of two headers of one name the last is sent.
# curl does not escape posted parameters, and Python does: "p&q=r" becomes a parameter of its own. fetch joins two parameters of one name, and reads the backslash of a text as an escape. Python and fetch round large numbers. Programs in PHP have null for true and false.
# There is no error. A request that is repeated so does not show the finding, which looks mended.
# Seen with httpsnippet 3.0.10, requests 2.34.2 and the curl of Debian 12.
set -euo pipefail
command -v curl > /dev/null || { echo 'needs curl' >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" httpsnippet@3.0.10
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check requests==2.34.2
cat > send.cjs <<'JS'
const { spawn } = require('node:child_process')
const { createServer } = require('node:http')
const { HTTPSnippet } = require('httpsnippet')

const commands = { curl: ['bash', '-c'], requests: ['venv/bin/python', '-c'], fetch: ['node', '--input-type=module', '-e'] }
const targets = { curl: 'shell', requests: 'python', fetch: 'javascript' }
const form = (params) => ({ postData: { mimeType: 'application/x-www-form-urlencoded', params } })
const requests = {
  'a cookie': { method: 'GET', cookies: [{ name: 's', value: 'a=b/c+d' }] },
  'two headers': {
    method: 'GET',
    headers: [
      { name: 'X-Kind', value: '1' },
      { name: 'X-Kind', value: '2' },
    ],
  },
  'a parameter': form([{ name: 'a', value: 'p&q=r' }]),
  'two parameters': form([
    { name: 'a', value: '1' },
    { name: 'a', value: '2' },
  ]),
  'a number': { postData: { mimeType: 'application/json', text: '{"id":9007199254740993}' } },
  'a backslash': { postData: { mimeType: 'text/plain', text: 'C:\\new' } },
}
const received = []
const server = createServer(async (request, response) => {
  let body = ''
  for await (const part of request) body += part
  for (let at = 0; at < request.rawHeaders.length; at += 2)
    if (/^(cookie|x-kind)$/i.test(request.rawHeaders[at])) received.push(`${request.rawHeaders[at].toLowerCase()}: ${request.rawHeaders[at + 1]}`)
  if (body) received.push(JSON.stringify(body))
  response.end('{}')
})
server.listen(0, '127.0.0.1', async () => {
  const url = `http://127.0.0.1:${server.address().port}/`
  const har = (request) => ({ method: 'POST', url, httpVersion: 'HTTP/1.1', cookies: [], headers: [], queryString: [], headersSize: -1, bodySize: -1, ...request })
  for (const [title, request] of Object.entries(requests))
    for (const [client, target] of Object.entries(targets)) {
      received.length = 0
      const [command, ...options] = commands[client]
      const code = new HTTPSnippet(har(request)).convert(target, client)
      const child = spawn(command, [...options, code], { stdio: 'ignore' })
      await new Promise((resolve) => child.on('close', resolve))
      console.log(`${title}, ${client}:`, ...received)
    }
  const answer = { postData: { mimeType: 'application/json', text: '{"on":true}' } }
  console.log('true, php:', /'on' => \w+/.exec(new HTTPSnippet(har(answer)).convert('php', 'curl'))[0])
  server.close()
})
JS
seen=$(node send.cjs)
expected='a cookie, curl: cookie: s=a%3Db%2Fc%2Bd
a cookie, requests: cookie: s=a%3Db%2Fc%2Bd
a cookie, fetch: cookie: s=a%3Db%2Fc%2Bd
two headers, curl: x-kind: 2
two headers, requests: x-kind: 2
two headers, fetch: x-kind: 2
a parameter, curl: "a=p&q=r"
a parameter, requests: "a=p%26q%3Dr"
a parameter, fetch: "a=p%26q%3Dr"
two parameters, curl: "a=1&a=2"
two parameters, requests: "a=1&a=2"
two parameters, fetch: "a=1%2C2"
a number, curl: "{\"id\":9007199254740993}"
a number, requests: "{\"id\": 9007199254740992}"
a number, fetch: "{\"id\":9007199254740992}"
a backslash, curl: "C:\\new"
a backslash, requests: "C:\\new"
a backslash, fetch: "C:\new"
true, php: '\''on'\'' => null'
printf 'expected: s=a=b/c+d, both headers, "a=p%%26q%%3Dr", "a=1&a=2", 9007199254740993, "C:\\\\new" and true\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
