#!/usr/bin/env bash
# cidrize (PyPI) turns the ways in which people write addresses into networks. One would guess that "10.0.0.254-10.0.1.1" becomes networks with these four addresses.
# By default it becomes the one smallest network that contains them: 512 addresses. "10.0.0.118-121" becomes 16. Only strict=True gives the four.
# A list with commas is exact without it, so a test with a list shows nothing.
# A scan of such a range goes to up to 128 times as many hosts, most of which are not in its scope.
# Seen with cidrize 3.1.0 and netaddr 1.3.0.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check cidrize==3.1.0 netaddr==1.3.0

seen=$("$work/venv/bin/python" - <<'PY'
from cidrize import cidrize

for text in ('10.0.0.1,10.0.0.3', '10.0.0.118-121', '10.0.0.[5-9]', '10.0.0.254-10.0.1.1'):
    networks = cidrize(text)
    exact = cidrize(text, strict=True)
    print(f'{text}: {" ".join(map(str, networks))} ({sum(network.size for network in networks)} addresses), strict {sum(network.size for network in exact)}')
PY
)
expected='10.0.0.1,10.0.0.3: 10.0.0.1/32 10.0.0.3/32 (2 addresses), strict 2
10.0.0.118-121: 10.0.0.112/28 (16 addresses), strict 4
10.0.0.[5-9]: 10.0.0.0/28 (16 addresses), strict 5
10.0.0.254-10.0.1.1: 10.0.0.0/23 (512 addresses), strict 4'
printf 'cidrize 3.1.0, netaddr 1.3.0\nexpected: 2, 4, 5 and 4 addresses\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
