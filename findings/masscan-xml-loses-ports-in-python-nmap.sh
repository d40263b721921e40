#!/usr/bin/env bash
# masscan -oX writes the elements of nmap's XML, with nmaprun as the root, so one would guess that a reader of nmap reports reads it.
# python-nmap reads it without an error, but masscan writes one host element for each open port, and python-nmap keeps the last element of an address: of two open ports one is left.
# python-libnmap keeps both elements and reports two hosts. masscan itself counts two hosts up.
# An inventory from such a report is short of ports or has hosts twice, depending on the reader.
# Seen with masscan 1.3.2 (Debian 12), python-nmap 0.7.1 and python-libnmap 0.7.3, in a network namespace of its own user.
set -euo pipefail
found=$(dpkg-query -W -f '${Version}' masscan 2> /dev/null || true)
[[ "$found" == 2:1.3.2* ]] || { echo "needs the Debian package masscan 1.3.2, found ${found:-none}" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check python-nmap==0.7.1 python-libnmap==0.7.3

# Two namespaces with a cable: the scanner, and a host with two servers.
cat > "$work/scan" <<'SH'
set -euo pipefail
unshare --net sleep 60 &
peer=$!
trap 'kill $(jobs -p)' EXIT
until [[ $(readlink /proc/self/ns/net) != $(readlink /proc/$peer/ns/net) ]]; do sleep 0.1; done
ip link add scanner type veth peer name target address 02:00:00:00:00:02 netns $peer
ip addr add 192.0.2.1/24 dev scanner
ip link set scanner up
inside() { nsenter --target $peer --net "$@"; }
inside ip addr add 192.0.2.2/24 dev target
inside ip link set target up
for port in 8001 8002; do inside python3 -m http.server "$port" --bind 192.0.2.2 > /dev/null 2>&1 & done
for port in 8001 8002; do until curl --silent --output /dev/null "http://192.0.2.2:$port/"; do sleep 0.1; done; done
masscan 192.0.2.2 -p8001-8002 --rate 100 --wait 2 -e scanner --adapter-ip 192.0.2.1 --router-mac 02:00:00:00:00:02 -oX report.xml
SH
(cd "$work" && unshare --map-root-user --net bash scan > scan.log 2>&1) || { cat "$work/scan.log" >&2; exit 2; }

seen=$(
  cd "$work"
  echo "masscan: $(grep -c '<host ' report.xml) host elements, $(grep -o 'up="[0-9]*"' report.xml)"
  venv/bin/python - <<'PY'
import nmap
from libnmap.parser import NmapParser

scanner = nmap.PortScanner()
with open('report.xml') as file:
    scanner.analyse_nmap_xml_scan(file.read())
print('python-nmap:', *(f'{host} with {len(scanner[host]["tcp"])} port' for host in scanner.all_hosts()))
print('python-libnmap:', len(NmapParser.parse_fromfile('report.xml').hosts), 'hosts')
PY
)
expected='masscan: 2 host elements, up="2"
python-nmap: 192.0.2.2 with 1 port
python-libnmap: 2 hosts'
printf 'masscan 1.3.2, python-nmap 0.7.1, python-libnmap 0.7.3: one host with two open ports\nexpected: one host with two ports\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
