#!/usr/bin/env bash
# An event of RFC 5424 has structured data in brackets, a blank, and the message (section 6). A message may hold brackets too: sshd ends many with "[preauth]". The priority is a number from 0 on, and 0 is an emergency of the kernel (section 6.2.1).
# One would guess that readers of syslog return the message as it was sent.
# glossy (npm) takes all up to the last bracket for structured data: behind [origin …] the message of sshd is empty, its words are gone. It gives an event of priority 0 no facility and no severity.
# nsyslog-parser (npm) leaves the structured data in a message that ends with a bracket, and where a value has an escaped quote.
# There is no error: failed logins are missing in a search by text, and emergencies in a filter by severity. Without structured data ("-") messages are whole, so the fault shows with some senders only.
# syslog-rfc5424-parser (PyPI) returns the messages and the severity.
# Seen with glossy 0.1.7, nsyslog-parser 0.10.1 and syslog-rfc5424-parser 0.3.2.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" glossy@0.1.7 nsyslog-parser@0.10.1
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check syslog-rfc5424-parser==0.3.2
cat > events.txt <<'TXT'
<38>1 2026-01-02T03:04:05Z web sshd 7 - [origin ip="192.0.2.1"] Connection closed by 198.51.100.7 port 22 [preauth]
<38>1 2026-01-02T03:04:05Z web app 7 - [rule name="a \"b\" c"] denied
<0>1 2026-01-02T03:04:05Z web kernel - - - out of memory
TXT
cat > read.cjs <<'JS'
const { readFileSync } = require('node:fs')
const glossy = require('glossy').Parse
const nsyslog = require('nsyslog-parser')

const events = readFileSync('events.txt', 'utf8').trim().split('\n')
for (const event of events.map((line) => glossy.parse(line))) console.log('glossy:', event.severity, JSON.stringify(event.message))
for (const event of events.map((line) => nsyslog(line))) console.log('nsyslog-parser:', event.level, JSON.stringify(event.message))
JS
cat > read.py <<'PY'
import json

from syslog_rfc5424_parser import SyslogMessage

for line in open('events.txt'):
    event = SyslogMessage.parse(line.rstrip('\n'))
    print('syslog-rfc5424-parser:', event.severity.name, json.dumps(event.msg))
PY
seen=$(node read.cjs && venv/bin/python read.py)
expected='glossy: info ""
glossy: info "denied"
glossy: undefined "out of memory"
nsyslog-parser: info "ip=\"192.0.2.1\"] Connection closed by 198.51.100.7 port 22 [preauth]"
nsyslog-parser: info "name=\"a \\\"b\\\" c\"] denied"
nsyslog-parser: emerg "out of memory"
syslog-rfc5424-parser: info "Connection closed by 198.51.100.7 port 22 [preauth]"
syslog-rfc5424-parser: info "denied"
syslog-rfc5424-parser: emerg "out of memory"'
printf 'expected: the messages of syslog-rfc5424-parser from each\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
