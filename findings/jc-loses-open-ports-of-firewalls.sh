#!/usr/bin/env bash
# jc makes JSON of the tables that ufw and iptables print, and inventories read open ports from it. `ufw status verbose` names a rule for an application as "80,443/tcp (Nginx Full)"; iptables writes 1235K for more packets than five digits hold, and nothing for the target of a rule that only counts.
# One would guess that jc returns these rules, as it reads "80,443/tcp" right.
# With the name of the application it keeps the first port: 443 is missing, and the protocol is "any". A rule for one port, "22/tcp (OpenSSH)", has no port and no protocol; all of it is the name of a service.
# The packets of iptables lose their K (1235), while the bytes keep it (9000000): counters of busy rules fall by 1000. A rule without a target moves all columns by one: its target is the protocol, and its destination is text.
# There is no error.
# Seen with jc 1.26.1 on tables as written by ufw 0.36.2 and iptables 1.8.9 (Debian 12).
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check jc==1.26.1
cat > ufw.txt <<'TXT'
Status: active
Logging: on (low)
Default: deny (incoming), allow (outgoing), disabled (routed)
New profiles: skip

To                         Action      From
--                         ------      ----
80,443/tcp                 ALLOW IN    Anywhere
80,443/tcp (Nginx Full)    ALLOW IN    Anywhere
22/tcp (OpenSSH)           ALLOW IN    Anywhere

TXT
cat > iptables.txt <<'TXT'
Chain INPUT (policy ACCEPT 0 packets, 0 bytes)
num   pkts bytes target     prot opt in     out     source               destination
1    1235K 9000K ACCEPT     6    --  *      *       192.0.2.0/24         198.51.100.1         tcp dpt:22
2        0     0            6    --  *      *       192.0.2.0/24         198.51.100.1         tcp dpt:80
TXT
seen=$(
  venv/bin/jc --ufw < ufw.txt | jq -r '.rules[] | "ufw: ports \(.to_ports) protocol \(.to_transport) service \(.to_service)"'
  venv/bin/jc --iptables < iptables.txt | jq -r '.[].rules[] | "iptables: packets \(.pkts) bytes \(.bytes) target \(.target) source \(.source) destination \(.destination)"'
)
expected='ufw: ports [80,443] protocol tcp service null
ufw: ports [80] protocol any service null
ufw: ports null protocol null service 22/tcp (OpenSSH)
iptables: packets 1235 bytes 9000000 target ACCEPT source 192.0.2.0/24 destination 198.51.100.1
iptables: packets 0 bytes 0 target 6 source 198.51.100.1 destination tcp'
printf 'input:\n%s\n%s\nexpected: ports 80, 443 and 22 of tcp, 1235000 packets, and the addresses of both rules\nseen:\n%s\n' "$(grep IN ufw.txt)" "$(cat iptables.txt)" "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
