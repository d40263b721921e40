#!/usr/bin/env bash
# faraday-plugins guesses which tool wrote a report. Its list has wapiti, so one would guess that it reads a report of wapiti.
# It knows the XML of wapiti only. wapiti's JSON, the form with all fields, has a key "vulnerabilities", as the JSON of WhiteSource has: it is read as that, gives no host and no weakness, and ends with exit code 0.
# A weakness that wapiti reports is not imported, and nothing tells.
# Seen with faraday-plugins 1.31.0 and wapiti3 3.2.3.
set -euo pipefail
work=$(mktemp -d)
server=
trap '[[ -z "$server" ]] || kill "$server"; rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check faraday-plugins==1.31.0 wapiti3==3.2.3
mkdir site
echo '<title>lab</title>' > site/index.html
python3 -u -m http.server 0 --bind 127.0.0.1 --directory site > log 2>&1 &
server=$!
until grep -q 'http://' log; do sleep 0.1; done
url=$(grep -o 'http://[0-9.:]*/' log | head -1)
HOME=$work timeout 120 venv/bin/wapiti -u "$url" -m csp -f json -o report.json --flush-session > wapiti.log 2>&1

code=0
HOME=$work venv/bin/faraday-plugins process-report report.json --summary > summary.json || code=$?
seen="wapiti: $(jq '[.vulnerabilities[][]] | length' report.json) weakness
faraday: $(HOME=$work venv/bin/faraday-plugins detect-report report.json | tail -1)
faraday: code $code, $(jq '.hosts' summary.json) hosts, $(jq '.hosts_vulns + .services_vulns' summary.json) weaknesses"
expected='wapiti: 1 weakness
faraday: Faraday Plugin: whitesource
faraday: code 0, 0 hosts, 0 weaknesses'
printf 'faraday-plugins 1.31.0, wapiti3 3.2.3\nexpected: the weakness of wapiti\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
