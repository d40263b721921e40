#!/usr/bin/env bash
# The lease file of the ISC DHCP server is a log: it names an address again at each change, and the last entry is what holds. Hosts to scan are often taken from it.
# One would guess that get_current() of isc-dhcp-leases returns the leases that hold.
# It leaves out entries that are not active before it looks for the latest: an address that was given back is still current by its older entry, until the time of that entry ends.
# A device that released its address is listed beside the device that has it now. Devices that identify themselves without an Ethernet address are missing, and so are abandoned addresses.
# Seen with isc-dhcp-leases 0.10.0.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check isc-dhcp-leases==0.10.0
cat > "$work/dhcpd.leases" <<'TXT'
lease 192.0.2.10 {
  starts 4 2026/11/26 10:00:00;
  ends 4 2096/11/26 10:00:00;
  binding state active;
  hardware ethernet 00:00:5e:00:53:01;
  client-hostname "printer";
}
lease 192.0.2.10 {
  starts 4 2026/11/26 10:00:00;
  ends 4 2026/11/26 11:00:00;
  binding state free;
  hardware ethernet 00:00:5e:00:53:01;
}
lease 192.0.2.10 {
  starts 4 2026/11/26 12:00:00;
  ends 4 2096/11/26 12:00:00;
  binding state active;
  hardware ethernet 00:00:5e:00:53:02;
  client-hostname "camera";
}
lease 192.0.2.11 {
  starts 4 2026/11/26 10:00:00;
  ends 4 2096/11/26 10:00:00;
  binding state active;
  uid "\001tunnel";
  client-hostname "tunnel";
}
TXT
cat > "$work/read.py" <<'PY'
import sys

from isc_dhcp_leases import IscDhcpLeases

for lease in IscDhcpLeases(sys.argv[1]).get_current().values():
    print(lease.ip, lease.ethernet, lease.hostname)
PY
seen=$("$work/venv/bin/python" "$work/read.py" "$work/dhcpd.leases")
expected='192.0.2.10 00:00:5e:00:53:01 printer
192.0.2.10 00:00:5e:00:53:02 camera'
printf 'expected: the camera at 192.0.2.10 and the tunnel at 192.0.2.11\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
