#!/usr/bin/env bash
# A scan of the same server on the next day should report what the server is like on that day. wapiti keeps a session for each target below the home folder, and uses it without being asked.
# After the server was fixed, wapiti 3.0 tests it again and prints that it is right, but the report has the weaknesses of the first scan.
# wapiti 3.2 says that the pages were attacked before and skips them, with the same report. Both exit with 0, and no field of the report tells which weakness is old.
# What was fixed stays open for ever, and with 3.2 what is new on a known page is not found. --flush-session, or an empty session folder, gives a true report.
# Seen with wapiti 3.0.4 (Debian 12) and wapiti3 3.2.3.
set -euo pipefail
found=$(dpkg-query -W -f '${Version}' wapiti 2> /dev/null || true)
[[ "$found" == 3.0.4* ]] || { echo "needs the Debian package wapiti 3.0.4, found ${found:-none}" >&2; exit 2; }
work=$(mktemp -d)
server=
trap '[[ -z "$server" ]] || kill "$server"; rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check wapiti3==3.2.3

# A server that sends protective headers as soon as the file "fixed" exists.
cat > "$work/server.py" <<'PY'
import http.server
import os


class Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header('Content-Type', 'text/html')
        if os.path.exists('fixed'):
            for name, value in {
                'X-Frame-Options': 'DENY',
                'X-Content-Type-Options': 'nosniff',
                'X-XSS-Protection': '1',
                'Strict-Transport-Security': 'max-age=1',
            }.items():
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(b'<title>lab</title>')

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Site)
print(server.server_port, flush=True)
server.serve_forever()
PY
(cd "$work" && exec python3 server.py) > "$work/port" 2> /dev/null &
server=$!
until [[ -s "$work/port" ]]; do sleep 0.1; done

# $1: the program, $2: a word for the scan, further arguments of wapiti
scan() {
  local program=$1 what=$2 code=0
  shift 2
  timeout 300 "$program" -u "http://127.0.0.1:$(< "$work/port")/" -m http_headers -f json -o "$work/report.json" "$@" > "$work/log" 2>&1 || code=$?
  jq -r --arg what "$what" --arg code "$code" '"\($what): code \($code), weaknesses \([.vulnerabilities[] | length] | add)"' "$work/report.json"
}
seen=$(
  for version in 3.0.4 3.2.3; do
    export HOME="$work/home-$version"
    mkdir "$HOME"
    program=wapiti
    [[ $version == 3.0.4 ]] || program="$work/venv/bin/wapiti"
    rm -f "$work/fixed"
    scan "$program" "$version, weak server" --no-bugreport
    touch "$work/fixed"
    scan "$program" "$version, fixed server" --no-bugreport
    scan "$program" "$version, fixed server, flushed" --no-bugreport --flush-session
  done
)
expected='3.0.4, weak server: code 0, weaknesses 4
3.0.4, fixed server: code 0, weaknesses 4
3.0.4, fixed server, flushed: code 0, weaknesses 0
3.2.3, weak server: code 0, weaknesses 2
3.2.3, fixed server: code 0, weaknesses 2
3.2.3, fixed server, flushed: code 0, weaknesses 0'
printf 'wapiti 3.0.4 and 3.2.3, module http_headers\nexpected: no weakness of the fixed server\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
