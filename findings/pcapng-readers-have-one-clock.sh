#!/usr/bin/env bash
# A pcapng file may hold packets of several interfaces, and each states the unit of its times (if_tsresol) and an offset in seconds (if_tsoffset); a file merged from several probes may have both (draft-ietf-opsawg-pcapng, sections 4.2 and 4.3).
# One would guess that readers give each packet the time that its interface says.
# dpkt reads all packets by the first interface: nanoseconds of a second one become the year 57,868, milliseconds become 1970. python-pcapng and scapy know each unit, and ignore the offset: the packet is in 1970.
# There is no error. A timeline of a scan made from such captures is wrong.
# tcpdump reads all of them.
# Seen with dpkt 1.9.8, python-pcapng 2.1.1, scapy 2.8.0 and tcpdump 4.99.3 (Debian 12).
set -euo pipefail
found=$(dpkg-query -W -f '${Version}' tcpdump 2> /dev/null || true)
[[ "$found" == 4.99.3-* ]] || { echo "needs the Debian package tcpdump 4.99.3, found ${found:-none}" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check dpkt==1.9.8 python-pcapng==2.1.1 scapy==2.8.0
cat > write.py <<'PY'
import struct

EPOCH = 1764000000
FRAME = bytes.fromhex('ffffffffffff00005e0053010806') + bytes(46)


def block(kind, body):
    body += bytes(-len(body) % 4)
    length = struct.pack('<I', 12 + len(body))
    return struct.pack('<I', kind) + length + body + length


def interface(code=0, value=b''):
    option = struct.pack('<HH', code, len(value)) + value + bytes(-len(value) % 4) + bytes(4) if code else b''
    return block(1, struct.pack('<HHI', 1, 0, 65535) + option)


def packet(number, time):
    return block(6, struct.pack('<IIIII', number, time >> 32, time & 0xFFFFFFFF, len(FRAME), len(FRAME)) + FRAME)


section = block(0x0A0D0D0A, struct.pack('<IHHq', 0x1A2B3C4D, 1, 0, -1))
interfaces = interface() + interface(9, b'\x09') + interface(9, b'\x03') + interface(14, struct.pack('<q', EPOCH))
packets = packet(0, EPOCH * 10**6) + packet(1, (EPOCH + 1) * 10**9) + packet(2, (EPOCH + 2) * 10**3) + packet(3, 3 * 10**6)
with open('merged.pcapng', 'wb') as file:
    file.write(section + interfaces + packets)
PY
cat > read.py <<'PY'
import dpkt
from pcapng import FileScanner
from pcapng.blocks import EnhancedPacket
from scapy.utils import rdpcap

with open('merged.pcapng', 'rb') as file:
    print('dpkt:', *(int(time) for time, _ in dpkt.pcapng.Reader(file)))
with open('merged.pcapng', 'rb') as file:
    print('python-pcapng:', *(int(block.timestamp) for block in FileScanner(file) if isinstance(block, EnhancedPacket)))
print('scapy:', *(int(packet.time) for packet in rdpcap('merged.pcapng')))
PY
python3 write.py
seen=$(
  echo "tcpdump: $(tcpdump -n -tt -r merged.pcapng 2> /dev/null | cut -d . -f 1 | paste -sd ' ')"
  venv/bin/python read.py 2> /dev/null
)
expected='tcpdump: 1764000000 1764000001 1764000002 1764000003
dpkt: 1764000000 1764000001000 1764000 3
python-pcapng: 1764000000 1764000001 1764000002 3
scapy: 1764000000 1764000001 1764000002 3'
printf 'expected: the times of tcpdump from each\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
