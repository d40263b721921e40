#!/usr/bin/env bash
# Access logs tell what a scan sent. Apache writes a backslash before a quote in a request or header (page of mod_log_config, since version 2.0.46), and times have the offset of the server, +0530 in India.
# One would guess that readers of the combined format know both.
# jc and apache-log-parser (PyPI) cut the user agent at its first quote. clf-parser (npm) loses the status of a request with a quote, and the code 403 becomes the number of bytes.
# apache-log-parser reads one digit of the minutes of an offset: the request is 27 minutes late. jc has no epoch_utc for an offset.
# There is no error: scans with quotes in their requests are missing in a search by agent or status.
# apachelogs (PyPI) reads both right.
# Seen with jc 1.26.1, apache-log-parser 1.7.0, clf-parser 0.0.2 and apachelogs 0.6.1.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" clf-parser@0.0.2
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check jc==1.26.1 apache-log-parser==1.7.0 apachelogs==0.6.1
cat > access.log <<'TXT'
192.0.2.1 - - [29/Nov/2026:08:00:00 +0000] "GET / HTTP/1.1" 200 12 "-" "scan \"quick\" mode"
192.0.2.2 - - [29/Nov/2026:08:00:00 +0530] "GET /?q=\"x\" HTTP/1.1" 403 34 "-" "scan"
TXT
cat > read.cjs <<'JS'
const { readFileSync } = require('node:fs')
const parse = require('clf-parser')

for (const line of readFileSync('access.log', 'utf8').trim().split('\n')) {
  const found = parse(line)
  console.log('clf-parser:', [found.status, found.body_bytes_sent, found.http_user_agent, found.time_local.toISOString()].join(', '))
}
JS
cat > read.py <<'PY'
import datetime

import apache_log_parser
import apachelogs
import jc

FORMAT = '%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i"'
parse = apache_log_parser.make_parser(FORMAT)
parser = apachelogs.LogParser(FORMAT)
for line in open('access.log').read().splitlines():
    found = jc.parse('clf', line)[0]
    print('jc:', found['status'], found['bytes'], found['user_agent'], found['epoch_utc'], sep=', ')
    found = parse(line)
    print('apache-log-parser:', found['status'], found['response_bytes_clf'], found['request_header_user_agent'], found['time_received_utc_isoformat'], sep=', ')
    found = parser.parse(line)
    print('apachelogs:', found.final_status, found.bytes_sent, found.headers_in['User-Agent'], found.request_time.astimezone(datetime.timezone.utc).isoformat(), sep=', ')
PY
seen=$(node read.cjs && venv/bin/python read.py)
expected='clf-parser: 200, 12, scan \, 2026-11-29T08:00:00.000Z
clf-parser: NaN, 403, , 2026-11-29T02:30:00.000Z
jc:, 200, 12, scan \, 1795939200
apache-log-parser:, 200, 12, scan \, 2026-11-29T08:00:00+00:00
apachelogs:, 200, 12, scan "quick" mode, 2026-11-29T08:00:00+00:00
jc:, 403, 34, scan, None
apache-log-parser:, 403, 34, scan, 2026-11-29T02:57:00+00:00
apachelogs:, 403, 34, scan, 2026-11-29T02:30:00+00:00'
printf 'input:\n%s\nexpected: the values of apachelogs from each\nseen:\n%s\n' "$(cat access.log)" "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
