#!/usr/bin/env bash
# A proxy is chosen by a PAC file, a function in JavaScript that may ask for the day: dateRange(2000, 2099) is true "from beginning of year 2000 until the end of year 2099", and weekdayRange("SAT", "MON") is a range of weekdays, as Netscape described both.
# One would guess that programs which evaluate PAC files agree on these two, as a file may send scans through one proxy at night and another at weekends.
# pac-resolver (npm), by which most programs in Node read PAC files, always returns false for dateRange, although its source has the description.
# pacparser (PyPI) returns false for a range of weekdays that passes Sunday: from Wednesday to Tuesday, which are all seven, holds on no day. pac-resolver and pypac (PyPI) return true for it.
# There is no error: requests take another proxy, or none, on the days that the file singles out.
# Seen with pac-resolver 9.0.1, quickjs-wasi 2.2.0, pacparser 1.5.3 and pypac 0.19.0.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" pac-resolver@9.0.1 quickjs-wasi@2.2.0
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pacparser==1.5.3 pypac==0.19.0
# Each of these holds on every day.
cat > questions.txt <<'TXT'
dateRange(1, 31)
dateRange("JAN", "DEC")
dateRange(2000, 2099)
weekdayRange("SUN", "SAT")
weekdayRange("WED", "TUE")
TXT
cat > ask.mjs <<'JS'
import { readFileSync } from 'node:fs'
import { createPacResolver } from 'pac-resolver'
import { QuickJS } from 'quickjs-wasi'

for (const question of readFileSync('questions.txt', 'utf8').trim().split('\n')) {
  const find = createPacResolver(await QuickJS.create(), `function FindProxyForURL(url, host) { return ${question} ? 'true' : 'false' }`)
  console.log('pac-resolver:', question, await find('http://host.example/'))
}
JS
cat > ask.py <<'PY'
import pacparser
from pypac.parser import PACFile

questions = open('questions.txt').read().splitlines()
source = "function FindProxyForURL(url, host) { return %s ? 'true' : 'false' }"
pacparser.init()
for question in questions:
    pacparser.parse_pac_string(source % question)
    print('pacparser:', question, pacparser.find_proxy('http://host.example/', 'host.example'))
for question in questions:
    print('pypac:', question, PACFile(source % question).find_proxy_for_url('http://host.example/', 'host.example'))
PY
seen=$(node ask.mjs && venv/bin/python ask.py)
expected='pac-resolver: dateRange(1, 31) false
pac-resolver: dateRange("JAN", "DEC") false
pac-resolver: dateRange(2000, 2099) false
pac-resolver: weekdayRange("SUN", "SAT") true
pac-resolver: weekdayRange("WED", "TUE") true
pacparser: dateRange(1, 31) true
pacparser: dateRange("JAN", "DEC") true
pacparser: dateRange(2000, 2099) true
pacparser: weekdayRange("SUN", "SAT") true
pacparser: weekdayRange("WED", "TUE") false
pypac: dateRange(1, 31) true
pypac: dateRange("JAN", "DEC") true
pypac: dateRange(2000, 2099) true
pypac: weekdayRange("SUN", "SAT") true
pypac: weekdayRange("WED", "TUE") true'
printf 'expected: true for each\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
