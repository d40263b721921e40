#!/usr/bin/env bash
# nft reads several statements from one file. One would guess that two "list set" statements in it list two sets.
# The call fails with "No such file or directory", points at the first set, which exists, and prints nothing. Two calls work, and so does the interactive mode.
# A guard around scanners that reads its counters in one call finds none, and takes a missing set for the cause.
# Seen with nftables 1.0.6 (Debian 12), in a network namespace of another user.
set -euo pipefail
version=$(nft --version | awk '{ print $2 }')
[[ "$version" == v1.0.6 ]] || { echo "needs nftables v1.0.6, found $version" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/rules.nft" <<'NFT'
table inet guard {
  set first { type ipv4_addr; elements = { 192.0.2.1 } }
  set second { type ipv4_addr; elements = { 192.0.2.2 } }
}
NFT
printf 'list set inet guard %s\n' first second > "$work/both"
cat > "$work/steps" <<'SH'
addresses() { grep -cE '192\.0\.2\.[0-9]' out || true; }
nft -f rules.nft
code=0
nft -f both > out 2> err || code=$?
echo "one call: exit code $code, $(addresses) addresses, $(grep -o 'No such file or directory' err || echo 'no error')"
{ nft list set inet guard first; nft list set inet guard second; } > out
echo "two calls: $(addresses) addresses"
nft -i < both > out
echo "interactive: $(addresses) addresses"
SH
seen=$(cd "$work" && unshare --map-root-user --net bash steps)
expected='one call: exit code 1, 0 addresses, No such file or directory
two calls: 2 addresses
interactive: 2 addresses'
printf 'nftables %s\nexpected: 2 addresses each time\nseen:\n%s\n' "$version" "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
