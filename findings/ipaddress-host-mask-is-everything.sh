#!/usr/bin/env bash
# Access lists of routers write networks with a wildcard mask: "10.0.0.0 0.0.0.255" is a /24 and "10.0.0.5 0.0.0.0" is one host.
# The ipaddress module of Python accepts such masks, so one would guess that a scope can be read from an access list with it.
# The first line gives 10.0.0.0/24 indeed. For the second, the mask 0.0.0.0 is taken as a net mask: one host becomes the whole IPv4 internet.
# netaddr reads both lines in the same way. Neither reports that a mask was ambiguous.
# A scope of allowed targets that came from an access list then allows every address.
# Seen with Python 3.11 and netaddr 1.3.0.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check netaddr==1.3.0

seen=$("$work/venv/bin/python" - <<'PY'
import ipaddress
import netaddr

for text in ('10.0.0.0/0.0.0.255', '10.0.0.5/0.0.0.0'):
    network = ipaddress.ip_network(text, strict=False)
    print(f'{text}: ipaddress {network} ({network.num_addresses} addresses), netaddr {netaddr.IPNetwork(text).size} addresses')
PY
)
expected='10.0.0.0/0.0.0.255: ipaddress 10.0.0.0/24 (256 addresses), netaddr 256 addresses
10.0.0.5/0.0.0.0: ipaddress 0.0.0.0/0 (4294967296 addresses), netaddr 4294967296 addresses'
printf '%s, netaddr 1.3.0\nexpected: 256 addresses and 1 address, or an error\nseen:\n%s\n' "$(python3 --version)" "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
