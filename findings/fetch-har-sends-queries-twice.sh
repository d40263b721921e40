#!/usr/bin/env bash
# A request in a HAR file has its "absolute URL", with the query, and beside it a list of the parameters of that query; cookies and posted parameters are lists, too, and a name may repeat (HAR 1.2, objects request, queryString and postData).
# One would guess that fetch-har (npm), made to "make a fetch request from a HAR definition", sends the request that a browser or a proxy has stored.
# It appends the list to the query: a request with x=1 has x twice. The parameters lose their escapes: y=%26 becomes y=&, which is another parameter, and %2B a plus, which servers read as a blank. Of two posted parameters of one name the last is sent, and cookies are escaped again.
# There is no error. A server reads two values where one was sent, and a request that is repeated to see a finding again does not show it.
# An address without a query, with the list alone, is sent once, and in the same way without its escapes.
# Seen with fetch-har 12.0.4.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" fetch-har@12.0.4
cat > send.mjs <<'JS'
import { createServer } from 'node:http'
import fetchHar from 'fetch-har'

const form = (...values) => ({ headers: [{ name: 'Content-Type', value: 'application/x-www-form-urlencoded' }], postData: { mimeType: 'application/x-www-form-urlencoded', params: values.map((value) => ({ name: 'a', value })) } })
const queryString = [
  { name: 'x', value: '1+2' },
  { name: 'y', value: '&' },
]
const requests = {
  'a query': { method: 'GET', query: '?x=1', queryString: [{ name: 'x', value: '1' }] },
  'a query with escapes': { method: 'GET', query: '?x=1%2B2&y=%26', queryString },
  'the list alone': { method: 'GET', queryString },
  'a cookie': { method: 'GET', cookies: [{ name: 's', value: 'a=b/c+d' }] },
  'two parameters': form('1', '2'),
}
const received = []
const server = createServer(async (request, response) => {
  let body = ''
  for await (const part of request) body += part
  received.push(request.url, request.headers.cookie ?? '', body)
  response.end('{}')
})
server.listen(0, '127.0.0.1', async () => {
  for (const [title, { query = '', ...request }] of Object.entries(requests)) {
    received.length = 0
    const url = `http://127.0.0.1:${server.address().port}/${query}`
    await fetchHar({ log: { entries: [{ request: { method: 'POST', url, httpVersion: 'HTTP/1.1', cookies: [], headers: [], queryString: [], headersSize: -1, bodySize: -1, ...request } }] } })
    console.log(`${title}:`, ...received.filter(Boolean))
  }
  server.close()
  server.closeAllConnections()
})
JS
seen=$(node send.mjs)
expected='a query: /?x=1&x=1
a query with escapes: /?x=1+2&y=&&x=1+2&y=&
the list alone: /?x=1+2&y=&
a cookie: / s=a%3Db%2Fc%2Bd
two parameters: / a=2'
printf 'expected: /?x=1, /?x=1%%2B2&y=%%26 twice, s=a=b/c+d and a=1&a=2\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
