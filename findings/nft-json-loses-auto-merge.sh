#!/usr/bin/env bash
# nft can list a ruleset as JSON and load that JSON. One would guess that this copies the ruleset, as the text form does.
# The JSON lacks the flag auto-merge of sets, and the comments of tables and sets; neither command reports a loss.
# The reloaded set of blocked networks looks equal, but adding an address that it already covers is then an error ("conflicting intervals"), and the whole transaction is refused.
# A guard around scanners that stores its rules as JSON stops accepting updates after a restore.
# Seen with nftables 1.0.6 (Debian 12), in a network namespace of its own user.
set -euo pipefail
version=$(nft --version | awk '{ print $2 }')
[[ "$version" == v1.0.6 ]] || { echo "needs nftables v1.0.6, found $version" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/rules.nft" <<'NFT'
table inet guard {
  comment "scan guard"
  set blocked {
    type ipv4_addr
    flags interval
    auto-merge
    comment "networks that are not scanned"
    elements = { 192.0.2.0/24 }
  }
}
NFT
cat > "$work/steps" <<'SH'
add() { nft 'add element inet guard blocked { 192.0.2.7 }' 2> /dev/null && echo accepted || echo refused; }
nft -f rules.nft
echo "before: auto-merge $(nft list ruleset | grep -c auto-merge), comments $(nft list ruleset | grep -c comment), second address $(add)"
nft -j list ruleset > rules.json
nft flush ruleset
nft -j -f rules.json
echo "after JSON: auto-merge $(nft list ruleset | grep -c auto-merge), comments $(nft list ruleset | grep -c comment), second address $(add)"
SH
seen=$(cd "$work" && unshare --map-root-user --net bash steps)
expected='before: auto-merge 1, comments 2, second address accepted
after JSON: auto-merge 0, comments 0, second address refused'
printf 'nftables %s\nexpected: the same before and after\nseen:\n%s\n' "$version" "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
