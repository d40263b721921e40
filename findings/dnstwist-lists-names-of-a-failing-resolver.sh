#!/usr/bin/env bash
# dnstwist --registered lists the look-alikes of a domain that are registered. One would guess that a resolver that fails gives an error or an empty list.
# A resolver that knows no name gives an empty list. One that answers each query with SERVFAIL or REFUSED gives a list of all look-alikes, each with the address "!ServFail", and exit code 0.
# An outage of the resolver reports thousands of registered look-alikes; a comparison with the night before calls them new.
# Seen with dnstwist 20250130 and dnspython 2.7.0.
set -euo pipefail
if [[ "${1:-}" != inside ]]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" install --quiet --disable-pip-version-check dnstwist==20250130 dnspython==2.7.0
  # dnstwist asks port 53 only: the resolver listens on the loopback of a network namespace.
  unshare --user --map-root-user --net bash "$(realpath "$0")" inside "$work"
  exit
fi
cd "$2"
ip link set lo up
cat > resolver.py <<'PY'
import socket
import sys

import dns.message
import dns.rcode

server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(('127.0.0.1', 53))
print('listens', flush=True)
while True:
    data, peer = server.recvfrom(4096)
    answer = dns.message.make_response(dns.message.from_wire(data))
    answer.set_rcode(dns.rcode.from_text(sys.argv[1]))
    server.sendto(answer.to_wire(), peer)
PY

listed() {
  local code=0 resolver
  : > listens
  venv/bin/python resolver.py "$1" > listens &
  resolver=$!
  until [[ -s listens ]]; do sleep 0.1; done
  timeout 120 venv/bin/dnstwist --registered --fuzzers homoglyph,transposition --nameservers 127.0.0.1 --threads 4 --format json example.com > report.json 2> /dev/null || code=$?
  kill "$resolver"
  # Without names, dnstwist writes nothing.
  jq -rs --arg rcode "$1" --arg code "$code" '(add // []) | map(select(.fuzzer != "*original")) | "\($rcode): code \($code), \(if length > 100 then "over 100" else length end) look-alikes, addresses \(map(.dns_a // [] | .[]) | unique | join(" "))"' report.json
}
seen="$(listed NXDOMAIN)
$(listed SERVFAIL)
$(listed REFUSED)"
expected='NXDOMAIN: code 0, 0 look-alikes, addresses 
SERVFAIL: code 0, over 100 look-alikes, addresses !ServFail
REFUSED: code 0, over 100 look-alikes, addresses !ServFail'
printf 'dnstwist 20250130\nexpected: no look-alikes of a resolver that fails\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
