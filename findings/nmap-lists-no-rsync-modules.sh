#!/usr/bin/env bash
# The script rsync-list-modules of nmap lists what an rsync server shares. One would guess that it lists it for any server that rsync itself can list.
# The greeting of a present rsync also names its digests ("@RSYNCD: 32.0 sha512 …"), which the script refuses. It then prints nothing:
# the report is that of a server that shares nothing. Only with -d there is an "ERROR: Failed to connect to rsync server".
# A scan finds open shares of old servers only, and closes findings when the server is upgraded.
# Seen with nmap 7.93 and rsync 3.5.0 (Debian 12).
set -euo pipefail
version=$(nmap --version | awk 'NR == 1 { print $3 }')
[[ "$version" == 7.93 ]] || { echo "needs nmap 7.93, found $version" >&2; exit 2; }
daemon=$(rsync --version | awk 'NR == 1 { print $3 }')
[[ "$daemon" == 3.5.0 ]] || { echo "needs rsync 3.5.0, found $daemon" >&2; exit 2; }
work=$(mktemp -d)
trap 'kill "$server" 2> /dev/null || true; rm -rf "$work"' EXIT
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
printf 'use chroot = no\n[backup]\npath = %s\nlist = yes\n' "$work" > "$work/rsyncd.conf"
rsync --daemon --no-detach --address=127.0.0.1 --port="$port" --config="$work/rsyncd.conf" 2> /dev/null &
server=$!
until rsync --contimeout=2 "rsync://127.0.0.1:$port/" > "$work/list" 2> /dev/null; do
  kill -0 "$server" || { echo "the rsync server ended" >&2; exit 2; }
  sleep 0.1
done

nmap -n -Pn -sT -sV -p "$port" --script rsync-list-modules -oX "$work/report.xml" 127.0.0.1 > /dev/null
seen="rsync lists $(awk '{ print $1 }' "$work/list"); nmap knows $(grep -o 'service name="[a-z]*"' "$work/report.xml"), results of the script: $(grep -c 'id="rsync-list-modules"' "$work/report.xml" || true)"
expected='rsync lists backup; nmap knows service name="rsync", results of the script: 0'
printf 'nmap %s, rsync %s\nexpected: one result of the script\nseen: %s\n' "$version" "$daemon" "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before: %s\n' "$expected" >&2; exit 1; }
