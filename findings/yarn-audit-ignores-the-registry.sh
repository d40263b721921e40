#!/usr/bin/env bash
# yarn installs packages from the registry of .yarnrc, and npm audit asks the registry of .npmrc. yarn 1 audit asks neither: it sends the list of all packages to a host that it has built in.
# Behind a registry of a company, or without a way out, it can check nothing. The error is on the terminal only, as a line of JSON on stderr.
# What --json writes to stdout is a line with a link to the documentation. Only the summary is missing that a project without weaknesses has too, so that readers of the lines count no weaknesses.
# Seen with yarn 1.22.22.
set -euo pipefail
work=$(mktemp -d)
server=
trap '[[ -z "$server" ]] || kill "$server"; rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix node yarn@1.22.22 > /dev/null

# A registry that finds nothing, and a proxy that refuses. It logs what it is asked for.
cat > server.py <<'PY'
import http.server


class Registry(http.server.BaseHTTPRequestHandler):
    def answer(self, code, body=b''):
        with open('asked', 'a') as log:
            log.write(f'{self.command} {self.path}\n')
        self.send_response(code)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        self.rfile.read(int(self.headers['Content-Length']))
        self.answer(200, b'{"actions":[],"advisories":{},"muted":[],"metadata":{"vulnerabilities":{},"totalDependencies":1}}')

    def do_CONNECT(self):
        self.answer(403)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Registry)
print(server.server_port, flush=True)
server.serve_forever()
PY
python3 server.py > port 2> /dev/null &
server=$!
until [[ -s port ]]; do sleep 0.1; done
registry="http://127.0.0.1:$(< port)"

mkdir project
echo '{"name":"demo","version":"1.0.0","license":"MIT","dependencies":{"minimist":"1.2.8"}}' > project/package.json
cat > project/yarn.lock <<LOCK
# yarn lockfile v1


minimist@1.2.8:
  version "1.2.8"
  resolved "$registry/minimist/-/minimist-1.2.8.tgz"
LOCK
printf 'registry "%s"\nhttps-proxy "%s"\n' "$registry" "$registry" > project/.yarnrc
printf 'registry=%s\n' "$registry" > project/.npmrc

code=0
(cd project && env -u npm_config_registry -u YARN_REGISTRY HOME="$work" timeout 100 ../node/node_modules/.bin/yarn audit --json) > out 2> errors || code=$?
seen="asked: $(sed -E 's/^CONNECT .+/CONNECT another host/' asked | sort -u)
code $code, stdout: $(jq -r .type out | sort -u | xargs), stderr: $(jq -r .type errors | sort -u | xargs)"
expected='asked: CONNECT another host
code 1, stdout: info, stderr: error'
printf 'yarn 1.22.22, registry on loopback\nexpected: asked: POST /-/npm/v1/security/audits, code 0, stdout: auditSummary\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; cat errors >&2; exit 1; }
