#!/usr/bin/env bash
# Scanners and their uploads take logins from .netrc. The manual of the file, netrc(5) of GNU inetutils, has words between blanks; curl and Python's netrc also read a password in quotes, and take # for a comment at the start of a word only.
# One would guess that libraries find the login that curl sends.
# netrc (npm), which node-netrc uses, cuts each line at the first #, also within a password. It splits a password in quotes at its blank; all words behind it then shift by one, so the entry gets the login and password of a later one, and the entries between are lost.
# netrc-parser (npm) keeps the # and cuts a password in quotes at its blank, with the quote left in it.
# Both drop the entry "default". There is no error: a host gets the login of another, or none.
# Passwords without #, quotes and blanks are read alike by all.
# Seen with netrc 0.1.4, netrc-parser 3.1.6 and curl 7.88.1 (Debian 12).
set -euo pipefail
found=$(dpkg-query -W -f '${Version}' curl 2> /dev/null || true)
[[ "$found" == 7.88.1-* ]] || { echo "needs the Debian package curl 7.88.1, found ${found:-none}" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" netrc@0.1.4 netrc-parser@3.1.6
cat > logins <<'TXT'
machine a.example login ann password se#cret
machine b.example login bob password "two words"
machine c.example login cid password plain
default login guest password public
TXT
chmod 600 logins
cat > ask.py <<'PY'
import base64
import http.server
import subprocess
import threading

answers = []


class Server(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        answers.append(base64.b64decode(self.headers.get('Authorization', 'Basic ')[6:]).decode())
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(('127.0.0.1', 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
for host in ('a', 'b', 'c', 'd'):
    subprocess.run(['curl', '--silent', '--noproxy', '*', '--netrc-file', 'logins', '--connect-to', f'::127.0.0.1:{server.server_port}', f'http://{host}.example/'], check=True)
print('curl:', ', '.join(answers))
PY
cat > read.cjs <<'JS'
const path = require('node:path')
const { Netrc } = require('netrc-parser')

const file = path.resolve('logins')
const entries = new Netrc(file)
entries.loadSync()
const readers = {
  netrc: (host) => require('netrc')(file)[host],
  'netrc-parser': (host) => entries.machines[host],
}
for (const [name, read] of Object.entries(readers))
  console.log(`${name}:`, ['a', 'b', 'c', 'd'].map((host) => read(`${host}.example`)).map((login) => (login ? `${login.login}:${login.password}` : 'none')).join(', '))
JS
seen=$(python3 ask.py && node read.cjs)
expected='curl: ann:se#cret, bob:two words, cid:plain, guest:public
netrc: ann:se, guest:public, none, none
netrc-parser: ann:se, bob:"two, cid:plain, none'
printf 'input:\n%s\nexpected: the logins of curl from each\nseen:\n%s\n' "$(cat logins)" "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
