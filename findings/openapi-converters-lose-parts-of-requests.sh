#!/usr/bin/env bash
# Scans of an API start from requests that a converter makes of its OpenAPI description. OpenAPI 3.0.3 has parameters in cookies ("Parameter Object"), a default for each variable in the address of a server ("Server Variable Object"), and parameters that are a part of a path segment, as in /report.{format} ("Path Templating").
# One would guess that converters carry these over, as a request without them fails.
# openapi-to-postmanv2 (npm) drops cookies, also required ones, without a warning. A parameter in a part of a segment loses its example: the path is report.string.
# openapi-snippet (npm) keeps {stage} in the address, as %7Bstage%7D, which no server has as a path.
# A scan then reads errors, and reports an API without findings. Each converter does right what the other does not.
# Seen with openapi-to-postmanv2 6.3.3 and openapi-snippet 0.14.0.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" openapi-to-postmanv2@6.3.3 openapi-snippet@0.14.0
cat > api.json <<'JSON'
{"openapi":"3.0.3","info":{"title":"lab","version":"1"},
 "servers":[{"url":"https://api.example.com/{stage}","variables":{"stage":{"default":"v3"}}}],
 "paths":{"/report.{format}":{"get":{
   "parameters":[
     {"name":"format","in":"path","required":true,"schema":{"type":"string"},"example":"pdf"},
     {"name":"session","in":"cookie","required":true,"schema":{"type":"string"},"example":"abc"},
     {"name":"X-Tenant","in":"header","required":true,"schema":{"type":"string"},"example":"one"}],
   "responses":{"200":{"description":"ok"}}}}}}
JSON
cat > convert.cjs <<'JS'
const { convert } = require('openapi-to-postmanv2')
const { getEndpointSnippets } = require('openapi-snippet')

const data = require('./api.json')
const { snippets } = getEndpointSnippets(data, '/report.{format}', 'get', ['shell_curl'])
console.log('openapi-snippet:', snippets[0].content.replaceAll(/\s*\\\n\s*/g, ' '))
convert({ type: 'json', data }, { requestParametersResolution: 'Example' }, (error, { output }) => {
  if (error) throw error
  const { item, variable } = output[0].data
  const leaves = (items) => items.flatMap((one) => (one.item ? leaves(one.item) : [one]))
  const [{ request }] = leaves(item)
  const values = Object.fromEntries(variable.map(({ key, value }) => [key, value]))
  const filled = (text) => text.replaceAll(/\{\{(\w+)\}\}/g, (_, key) => filled(values[key]))
  console.log('openapi-to-postmanv2:', filled([...request.url.host, ...request.url.path].join('/')), request.header.map(({ key, value }) => `${key}: ${value}`).join(', '))
})
JS
seen=$(node convert.cjs)
expected="openapi-snippet: curl --request GET --url https://api.example.com/%7Bstage%7D/report.pdf --header 'X-Tenant: one' --cookie session=abc
openapi-to-postmanv2: https://api.example.com/v3/report.string X-Tenant: one"
printf 'expected: https://api.example.com/v3/report.pdf with X-Tenant: one and the cookie session=abc from both\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
