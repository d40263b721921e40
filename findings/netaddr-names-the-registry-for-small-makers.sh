#!/usr/bin/env bash
# An inventory names the maker of a device by its MAC address. netaddr brings the registers of the IEEE, so one would guess that it finds every maker.
# It knows blocks of 24 bits and the old small blocks (IAB, 00-50-C2). The present small ones, of 28 and 36 bits (MA-M, MA-S), are not in it.
# For those it raises nothing: the maker is "IEEE Registration Authority". Most controllers, cameras and meters of small makers have such addresses.
# manuf, whose register has all sizes, names the makers of the same addresses.
# Seen with netaddr 1.3.0 and manuf 1.1.5.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check netaddr==1.3.0 manuf==1.1.5
cat > "$work/makers.py" <<'PY'
import netaddr
from manuf import manuf

parser = manuf.MacParser()
for kind, mac in [
    ('24 bits', '00-00-0C-11-22-33'),
    ('old small block', '00-50-C2-00-00-01'),
    ('28 bits', 'D0-14-11-20-00-01'),
    ('36 bits', '8C-1F-64-00-30-01'),
    ('36 bits', '70-B3-D5-2F-C0-01'),
]:
    address = netaddr.EUI(mac)
    register = address.iab if address.is_iab() else address.oui
    print(f'{kind}: netaddr {register.registration().org} / manuf {parser.get_all(mac).manuf_long}')
PY
seen=$("$work/venv/bin/python" "$work/makers.py")
expected='24 bits: netaddr Cisco Systems, Inc / manuf Cisco Systems, Inc
old small block: netaddr T.L.S. Corp. / manuf T.L.S. Corp.
28 bits: netaddr IEEE Registration Authority / manuf Evoco Labs CO., LTD
36 bits: netaddr IEEE Registration Authority / manuf Brighten Controls LLP
36 bits: netaddr IEEE Registration Authority / manuf Loanguard T/A SE Controls'
printf 'netaddr 1.3.0, manuf 1.1.5\nexpected: the same makers\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
