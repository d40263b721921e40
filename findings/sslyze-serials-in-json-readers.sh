#!/usr/bin/env bash
# sslyze writes the serial number of a certificate into its JSON report. One would guess that it can be compared with what openssl, browsers and lists of revoked certificates show.
# It is a JSON number of up to 160 bits, in decimal. Readers that keep numbers as doubles, among them jq 1.6 and Node, change it without an error: some 48 digits become 16, and two certificates of one issuer may get the same serial.
# Python reads it as it is. Compare fingerprint_sha256 of the same object instead, which is text.
# Seen with sslyze 6.2.0, jq 1.6 and Node 20.
set -euo pipefail
work=$(mktemp -d)
server=
trap '[[ -z "$server" ]] || kill "$server"; rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check sslyze==6.2.0
serial=6B3C6F0D5A7E91C2D4F8A1B2C3D4E5F601234567
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 30 -subj /CN=lab.test -set_serial "0x$serial" 2> /dev/null
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
openssl s_server -accept "127.0.0.1:$port" -key key.pem -cert cert.pem -www -quiet > log 2>&1 &
server=$!
until (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null; do sleep 0.1; done
venv/bin/sslyze --certinfo --json_out report.json "127.0.0.1:$port" > /dev/null

path='.server_scan_results[0].scan_result.certificate_info.result.certificate_deployments[0].received_certificate_chain[0].serial_number'
hex() { python3 -c 'import sys; print("right" if int(float(sys.argv[1]) if "e" in sys.argv[1] else sys.argv[1]) == int(sys.argv[2], 16) else "wrong")' "$1" "$serial"; }
cat > read.py <<'PY'
import json

server = json.load(open('report.json'))['server_scan_results'][0]['scan_result']
print(server['certificate_info']['result']['certificate_deployments'][0]['received_certificate_chain'][0]['serial_number'])
PY
seen="python: $(hex "$(python3 read.py)")
jq: $(hex "$(jq "$path" report.json)")
node: $(hex "$(node -p "JSON.parse(require('fs').readFileSync('report.json'))$path")")"
expected='python: right
jq: wrong
node: wrong'
printf 'sslyze 6.2.0, %s, node %s\nexpected: all readers get the serial %s\nseen:\n%s\n' "$(jq --version)" "$(node --version)" "$serial" "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
