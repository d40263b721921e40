#!/usr/bin/env bash
# A program that sets rules often keeps one "nft -i" open, since starting nft costs more than a rule. One would guess that its input leaves no trace and that each line costs the same.
# nft adds every line to ~/.nft.history, also without a terminal and without a limit, reads that file at its next start, and walks through all lines of the session for each further one.
# A history of 400,000 lines costs each start over 0.1 s of CPU, one without some milliseconds; where a service has / as home, it is /.nft.history, and its rules become slower from day to day.
# Seen with nftables 1.0.6 (Debian 12), in a network namespace of another user. HOME=/dev/null and a new session from time to time help.
set -euo pipefail
version=$(nft --version | awk '{ print $2 }')
[[ "$version" == v1.0.6 ]] || { echo "needs nftables v1.0.6, found $version" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/steps" <<'SH'
export HOME=$PWD
printf 'list tables\nlist sets\n' | nft -i > out
echo "lines in the history: $(grep -c list .nft.history)"
# In milliseconds: the CPU of one start.
cpu() { TIMEFORMAT='%U'; { time nft -i < /dev/null > out; } 2>&1 | tr -d .; }
before=$(cpu)
for _ in $(seq 200000); do printf 'list\\040tables\nlist\\040sets\n'; done >> .nft.history
(( 10#$(cpu) > 10#$before + 100 )) && echo 'a long history: slower'
SH
seen=$(cd "$work" && unshare --map-root-user --net bash steps)
expected='lines in the history: 2
a long history: slower'
printf 'nftables %s\nexpected: no history, and starts that cost the same\nseen:\n%s\n' "$version" "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
