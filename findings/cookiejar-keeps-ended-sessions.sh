#!/usr/bin/env bash
# A server ends a session with a cookie whose Max-Age is 0. RFC 6265 gives Max-Age precedence over Expires (section 5.3), ignores the case of domains (5.2.3), lets a cookie of /app reach /app/x but not /apple (5.1.4), and makes the folder of the request the path of a cookie without one (5.1.4).
# One would guess that a jar of cookies, by which a script or a crawler stays logged in, follows these rules. tough-cookie does.
# cookiejar (npm, the jar of superagent and supertest) knows no Max-Age: it keeps a session that the server ended, so that a test of "logged out" sends the old value. It drops a cookie whose domain has capital letters, sends one of /app to /apple, and one that /login/form set without a path to that page alone.
# Seen with cookiejar 2.1.4 and tough-cookie 6.1.0.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" cookiejar@2.1.4 tough-cookie@6.1.0
cat > read.cjs <<'JS'
const { CookieAccessInfo, CookieJar } = require('cookiejar')
const tough = require('tough-cookie')

const host = 'www.example.com'
const cases = [
  ['the session has ended', ['sid=1; Path=/; Expires=Thu, 01 Jan 2099 00:00:00 GMT', 'sid=1; Path=/; Expires=Thu, 01 Jan 2099 00:00:00 GMT; Max-Age=0'], '/'],
  ['capital letters', ['sid=2; Path=/; Domain=EXAMPLE.com'], '/'],
  ['another folder', ['sid=3; Path=/app'], '/apple'],
  ['no path', ['sid=4'], '/login/next'],
]
for (const [name, headers, path] of cases) {
  const first = new CookieJar()
  const second = new tough.CookieJar()
  for (const header of headers) {
    first.setCookies(header, host, '/login/form')
    second.setCookieSync(header, `https://${host}/login/form`)
  }
  const sent = first.getCookies(new CookieAccessInfo(host, path, true, false)).map((cookie) => cookie.toValueString())
  console.log(`${name}: cookiejar sends "${sent.join('; ')}", tough-cookie "${second.getCookieStringSync(`https://${host}${path}`)}"`)
}
JS
seen=$(node read.cjs)
expected='the session has ended: cookiejar sends "sid=1", tough-cookie ""
capital letters: cookiejar sends "", tough-cookie "sid=2"
another folder: cookiejar sends "sid=3", tough-cookie ""
no path: cookiejar sends "", tough-cookie "sid=4"'
printf 'expected: the answers of tough-cookie from both\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
