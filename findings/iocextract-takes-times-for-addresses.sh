#!/usr/bin/env bash
# iocextract takes addresses, URLs and hashes out of reports and logs, for lists of addresses to look up or to block.
# One would guess that what it returns as an IP address has the form of one.
# A MAC address and the time of day are IPv6 addresses for it, and the four last numbers of a version or an object identifier are an IPv4 address, without its first number.
# The answers of Python's ipaddress tell which of them are addresses at all; 2.3.4.5 cannot be told from one afterwards.
# ioc-finder returns neither MAC addresses nor times.
# iocextract also needs requests, which it does not declare.
# Seen with iocextract 1.16.1 and ioc-finder 9.4.1.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check iocextract==1.16.1 ioc-finder==9.4.1 requests==2.34.2
cat > "$work/read.py" <<'PY'
import ioc_finder
import iocextract

for text in ('from 192.0.2.1 and 2001:db8::1', 'device 00:00:5e:00:53:01', 'seen at 10:20:30', 'version 1.2.3.4.5'):
    found = ioc_finder.find_iocs(text)
    print(text + ': iocextract', *iocextract.extract_ips(text), '| ioc-finder', *sorted(found['ipv4s'] + found['ipv6s']))
PY
seen=$("$work/venv/bin/python" "$work/read.py")
expected='from 192.0.2.1 and 2001:db8::1: iocextract 192.0.2.1 2001:db8::1 | ioc-finder 192.0.2.1 2001:db8::1
device 00:00:5e:00:53:01: iocextract 00:00:5e:00:53:01 | ioc-finder
seen at 10:20:30: iocextract 10:20:30 | ioc-finder
version 1.2.3.4.5: iocextract 2.3.4.5 | ioc-finder'
printf 'expected: addresses in the first line only\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
