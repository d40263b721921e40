#!/usr/bin/env bash
# Reviews of servers read nginx.conf. A directive ends with a semicolon, so several may stand on a line, and "#" begins a comment at the start of a word only: in https://host.example/#top it is a part of the address, as it is in quotes.
# One would guess that libraries for the file return the directives that nginx uses.
# @webantic/nginx-config-parser (npm) returns one directive for a line: "listen 80; listen [::]:80;" is one value with a semicolon, a whole block on one line is a text, and what stands behind "#" in a value is cut, with the end of the directive.
# There is no error. Here the header is a part of the rewrite, and the second port a part of the first: a review reports both as missing.
# crossplane (PyPI) and nginx-conf (npm) return all of them.
# Seen with @webantic/nginx-config-parser 1.6.1, nginx-conf 2.1.0 and crossplane 0.5.8; nginx itself accepts the file.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" @webantic/nginx-config-parser@1.6.1 nginx-conf@2.1.0
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check crossplane==0.5.8
cat > nginx.conf <<'TXT'
events { worker_connections 64; }
http {
  server {
    listen 8080; listen [::1]:8080;
    rewrite ^/old$ https://host.example/#top permanent;
    add_header X-Frame-Options DENY;
    location /private { deny all; }
  }
}
TXT
if command -v nginx > /dev/null; then nginx -t -q -p "$work" -g 'pid pid; error_log log;' -c "$work/nginx.conf" 2> log || { cat log >&2; exit 2; }; fi
cat > read.cjs <<'JS'
const { readFileSync } = require('node:fs')
const Parser = require('@webantic/nginx-config-parser')
const { NginxConfFile } = require('nginx-conf')

console.log('@webantic/nginx-config-parser:', JSON.stringify(new Parser().toJSON(readFileSync('nginx.conf', 'utf8'))))
NginxConfFile.create('nginx.conf', (error, { nginx: { http: [{ server: [server] }] } }) => {
  console.log('nginx-conf: listen', server.listen.map(({ _value }) => _value).join(' and '), '| rewrite', server.rewrite[0]._value, '| add_header', server.add_header[0]._value, '| location', server.location[0]._value, 'deny', server.location[0].deny[0]._value)
})
JS
cat > read.py <<'PY'
import crossplane

http = crossplane.parse('nginx.conf', single=True)['config'][0]['parsed'][1]
print('crossplane:', *(' '.join([one['directive'], *one['args'], *('deny ' + ' '.join(inner['args']) for inner in one.get('block', []))]) for one in http['block'][0]['block']), sep=' | ')
PY
seen=$(node read.cjs && venv/bin/python read.py)
expected='@webantic/nginx-config-parser: {"events":{"worker_connections":"64"},"http":{"server":{"listen":"8080; listen [::1]:8080","rewrite":"^/old$ https://host.example/ add_header X-Frame-Options DENY","location /private":{"deny":"all"}}}}
nginx-conf: listen 8080 and [::1]:8080 | rewrite ^/old$ https://host.example/#top permanent | add_header X-Frame-Options DENY | location /private deny all
crossplane: | listen 8080 | listen [::1]:8080 | rewrite ^/old$ https://host.example/#top permanent | add_header X-Frame-Options DENY | location /private deny all'
printf 'expected: two listens, the whole rewrite, a header and a location from each\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
