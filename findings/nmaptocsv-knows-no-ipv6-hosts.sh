#!/usr/bin/env bash
# nmap writes the address of a host with its kind into the XML report: addrtype is ipv4, ipv6 or mac (nmap.dtd). Reports of a scan with -6 have IPv6 addresses only, and reports of several scans are joined to one file.
# One would guess that converters of the report, which make a table with a line for each port, know both kinds.
# nmaptocsv (PyPI), and secsi-nmaptocsv (PyPI), which carries it on, begin a host at its IPv4 address. The ports of an IPv6 host become ports of the host before: 192.0.2.1 is said to have port 8443.
# There is no error then. Only a file whose first host has an IPv6 address, as that of a scan with -6, ends with an exception of Python.
# A TLS service is "http" for both: the tunnel that nmap names is dropped.
# python-libnmap returns both hosts, and the tunnel.
# Seen with nmaptocsv 1.6, secsi-nmaptocsv 1.7.1 and python-libnmap 0.7.3.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for package in nmaptocsv==1.6 secsi-nmaptocsv==1.7.1 python-libnmap==0.7.3; do
  python3 -m venv "${package%%=*}"
  "${package%%=*}/bin/pip" install --quiet --disable-pip-version-check "$package"
done
cat > both.xml <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<nmaprun scanner="nmap" args="nmap -sV" start="1767225600" version="7.93" xmloutputversion="1.05">
<host><status state="up" reason="user-set" reason_ttl="0"/><address addr="192.0.2.1" addrtype="ipv4"/><ports>
<port protocol="tcp" portid="22"><state state="open" reason="syn-ack" reason_ttl="0"/><service name="ssh" method="probed" conf="10"/></port></ports></host>
<host><status state="up" reason="user-set" reason_ttl="0"/><address addr="2001:db8::5" addrtype="ipv6"/><ports>
<port protocol="tcp" portid="8443"><state state="open" reason="syn-ack" reason_ttl="0"/><service name="http" tunnel="ssl" method="probed" conf="10"/></port></ports></host>
<runstats><finished time="1767225601" timestr="" elapsed="1" exit="success"/><hosts up="2" down="0" total="2"/></runstats>
</nmaprun>
XML
sed '/192.0.2.1/,/"22"/d' both.xml > ipv6.xml
cat > read.py <<'PY'
from libnmap.parser import NmapParser

for host in NmapParser.parse_fromfile('both.xml').hosts:
    print('python-libnmap:', host.address, *(f'{one.port} {one.service} {one.tunnel}' for one in host.services))
PY
seen=$(
  python-libnmap/bin/python read.py
  for name in nmaptocsv secsi-nmaptocsv; do
    "$name/bin/nmaptocsv" -x both.xml | sed -n "s/^\"[0-9a-f]/$name: &/p"
    { "$name/bin/nmaptocsv" -x ipv6.xml 2>&1 || true; } | tail -n 1 | cut -c 1-17 | sed "s/^/$name, IPv6 only: /"
  done
)
expected='python-libnmap: 192.0.2.1 22 ssh 
python-libnmap: 2001:db8::5 8443 http ssl
nmaptocsv: "192.0.2.1";"";"22";"tcp";"ssh";""
nmaptocsv: "192.0.2.1";"";"8443";"tcp";"http";""
nmaptocsv, IPv6 only: UnboundLocalError
secsi-nmaptocsv: "192.0.2.1";"";"22";"tcp";"open";"ssh";""
secsi-nmaptocsv: "192.0.2.1";"";"8443";"tcp";"open";"http";""
secsi-nmaptocsv, IPv6 only: UnboundLocalError'
printf 'expected: port 22 of 192.0.2.1, and 8443 with TLS of 2001:db8::5\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
