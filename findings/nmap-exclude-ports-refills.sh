#!/usr/bin/env bash
# "nmap -F" scans the 100 most frequent ports. One would guess that --exclude-ports takes some of them away.
# nmap removes the excluded ports from its table first and takes the 100 most frequent of the rest: excluding ports adds others.
# "-F --exclude-ports 1-9999" still scans 100 ports, none of which "-F" alone would scan, except for those above 9999.
# A scan that should do less does as much, at ports that no one agreed on.
# The scaninfo element of the report tells which ports were scanned.
# Seen with nmap 7.93 (Debian 12).
set -euo pipefail
version=$(nmap --version | awk 'NR == 1 { print $3 }')
[[ "$version" == 7.93 ]] || { echo "needs nmap 7.93, found $version" >&2; exit 2; }

ports() {
  nmap -n -Pn -sT "$@" -oX - 127.0.0.1 2> /dev/null | sed -n 's/.*<scaninfo .* services="\([^"]*\)".*/\1/p' |
    tr , '\n' | awk -F- '{ for (port = $1; port <= ($2 == "" ? $1 : $2); port++) print port }' | sort
}
normal=$(ports -F)
rest=$(ports -F --exclude-ports 1-9999)
seen="-F: $(wc -l <<< "$normal") ports; with --exclude-ports 1-9999: $(wc -l <<< "$rest") ports, $(comm -13 <(echo "$normal") <(echo "$rest") | wc -l) of them not in -F"
expected='-F: 100 ports; with --exclude-ports 1-9999: 100 ports, 92 of them not in -F'
printf 'nmap %s\nexpected: fewer ports, all of them in -F\nseen: %s\n' "$version" "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before: %s\n' "$expected" >&2; exit 1; }
