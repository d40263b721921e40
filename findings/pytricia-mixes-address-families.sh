#!/usr/bin/env bash
# A table of networks (owners, AS numbers, excluded ranges) has IPv4 and IPv6. PyTricia takes both in one table without an error; its default is a tree of 32 bits. One would guess that an address is found in networks of its family only.
# PyTricia compares the bits of both families alike: 42.2.6.184 is found in 2a02:6b8::/32, and 2001:db8::1 in 32.0.0.0/8.
# The first 32 bits of most European IPv6 networks are addresses in 42.0.0.0/8, so the answers for real IPv4 hosts are wrong.
# py-radix and SubnetTree keep the families apart. With PyTricia, use one table for each.
# Seen with pytricia 1.3.0, py-radix 1.1.0 and pysubnettree 0.38.1.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pytricia==1.3.0 py-radix==1.1.0 pysubnettree==0.38.1
cat > "$work/find.py" <<'PY'
import pytricia
import radix
import SubnetTree

networks = ('2a02:6b8::/32', '32.0.0.0/8')
tables = {'pytricia 32': pytricia.PyTricia(), 'pytricia 128': pytricia.PyTricia(128), 'subnettree': SubnetTree.SubnetTree()}
for table in tables.values():
    for network in networks:
        table[network] = network
tree = radix.Radix()
for network in networks:
    tree.add(network)


def find(table, address):
    return table[address] if address in table else None


for address in ('42.2.6.184', '2001:db8::1', '2a02:6b8::1', '32.1.2.3'):
    answers = {name: find(table, address) for name, table in tables.items()}
    node = tree.search_best(address)
    answers['py-radix'] = node.prefix if node else None
    print(address + ':', ', '.join(f'{name} {answer}' for name, answer in answers.items()))
PY
seen=$("$work/venv/bin/python" "$work/find.py")
expected='42.2.6.184: pytricia 32 2a02:6b8::/32, pytricia 128 2a02:6b8::/32, subnettree None, py-radix None
2001:db8::1: pytricia 32 32.0.0.0/8, pytricia 128 32.0.0.0/8, subnettree None, py-radix None
2a02:6b8::1: pytricia 32 2a02:6b8::/32, pytricia 128 2a02:6b8::/32, subnettree 2a02:6b8::/32, py-radix 2a02:6b8::/32
32.1.2.3: pytricia 32 32.0.0.0/8, pytricia 128 32.0.0.0/8, subnettree 32.0.0.0/8, py-radix 32.0.0.0/8'
printf 'expected: no network for the first two addresses\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
