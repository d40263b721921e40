#!/usr/bin/env bash
# A zone file is a list of hosts to scan. Its format is that of RFC 1035: a line that begins with a blank has the owner of the line before, the class and the time to live come in any order, and $ORIGIN holds for what follows.
# One would guess that a library for zone files reads these. dnspython does.
# zone-file (npm) names the second address of www "IN". dns-zonefile (npm) gives the IPv6 address of www to the zone, and drops ftp; both return one $ORIGIN, the last, for all hosts.
# zonefile-parser (PyPI) gives both further addresses of www to the zone, drops ftp, and puts the origin behind absolute names.
# No library reports an error: hosts are missing in the scope, others have names that do not exist.
# Seen with zone-file 1.0.0, dns-zonefile 0.3.2, zonefile-parser 0.1.20 and dnspython 2.9.2.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" zone-file@1.0.0 dns-zonefile@0.3.2
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check zonefile-parser==0.1.20 dnspython==2.9.2
cat > zone.txt <<'TXT'
$ORIGIN example.com.
$TTL 3600
@    IN SOA ns1 hostmaster ( 2026010101 3600 900 604800 300 )
     IN NS  ns1
ns1  IN A 192.0.2.1
www  IN A 192.0.2.10
     IN A 192.0.2.11
     IN AAAA 2001:db8::10
ftp  IN 300 A 192.0.2.30
$ORIGIN lab.example.com.
www  IN A 192.0.2.60
mail.example.com. IN A 192.0.2.70
TXT
cat > read.mjs <<'JS'
import { readFileSync } from 'node:fs'
import zoneFile from 'zone-file'
import dnsZonefile from 'dns-zonefile'

const text = readFileSync('zone.txt', 'utf8')
for (const [name, zone] of [['zone-file', zoneFile.parseZoneFile(text)], ['dns-zonefile', dnsZonefile.parse(text)]])
  console.log(`${name}, ${zone.$origin}: ${[...zone.a, ...zone.aaaa].map((record) => `${record.name} ${record.ip}`).join(', ')}`)
JS
cat > read.py <<'PY'
import dns.zone
import zonefile_parser

text = open('zone.txt').read()
records = [f'{record.name} {record.rdata["value"]}' for record in zonefile_parser.parse(text) if record.rtype in ('A', 'AAAA')]
print('zonefile-parser:', ', '.join(records))
zone = dns.zone.from_text(text, origin='example.com.', relativize=False, check_origin=False)
records = [f'{name} {record}' for kind in ('A', 'AAAA') for name, _, record in zone.iterate_rdatas(kind)]
print('dnspython:', ', '.join(records))
PY
seen=$(node read.mjs && venv/bin/python read.py)
expected='zone-file, lab.example.com.: ns1 192.0.2.1, www 192.0.2.10, IN 192.0.2.11, ftp 192.0.2.30, www 192.0.2.60, mail.example.com. 192.0.2.70, IN 2001:db8::10
dns-zonefile, lab.example.com.: ns1 192.0.2.1, www 192.0.2.10, www 192.0.2.11, www 192.0.2.60, mail.example.com. 192.0.2.70, @ 2001:db8::10
zonefile-parser: ns1.example.com. 192.0.2.1, www.example.com. 192.0.2.10, example.com. 192.0.2.11, example.com. 2001:db8::10, www.lab.example.com. 192.0.2.60, mail.example.com..lab.example.com. 192.0.2.70
dnspython: ns1.example.com. 192.0.2.1, www.example.com. 192.0.2.10, www.example.com. 192.0.2.11, ftp.example.com. 192.0.2.30, www.lab.example.com. 192.0.2.60, mail.example.com. 192.0.2.70, www.example.com. 2001:db8::10'
printf 'expected: the seven addresses of dnspython from each library\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
