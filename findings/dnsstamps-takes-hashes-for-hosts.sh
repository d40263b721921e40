#!/usr/bin/env bash
# Lists of public resolvers name them by DNS stamps. A stamp of DNS over HTTPS has an address, hashes of certificates, a host and a path; of the hashes each but the last has the high bit set in its length ("DNS-over-HTTPS stamps" in the specification of DNS stamps).
# One would guess that dnsstamps (PyPI), made to "create and parse DNS stamps with ease", reads what it creates.
# It reads no hash: the bytes of the first are the host, the next hash or the host is the path, and the path is an address to start from. A stamp without hashes is right, so the fault shows with some resolvers only.
# There is no error. A check of resolvers asks hosts that do not exist, and finds none that pins its certificate.
# What it writes has the form of the specification, as ten lines that read it show.
# Seen with dnsstamps 1.4.1.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check dnsstamps==1.4.1
cat > stamps.py <<'PY'
import base64

from dnsstamps import create_doh, parse


def by_specification(stamp):
    """The hashes, the host and the path, by the lengths in front of them."""
    rest = base64.urlsafe_b64decode(stamp.removeprefix('sdns://') + '==')[9:]
    parts, hashes = [], 0
    while rest:
        size = rest[0] & 0x7F
        parts.append(rest[1 : 1 + size])
        hashes += bool(rest[0] & 0x80)
        rest = rest[1 + size :]
    hashes = parts[1 : 2 + hashes]
    return [part.decode() for part in hashes if part], *(part.decode() for part in parts[1 + len(hashes) :])


for count in (0, 1, 2):
    stamp = create_doh('192.0.2.1', ['61' * 32, '62' * 32][:count], 'dns.example', '/dns-query')
    print(f'{count} hashes, by the specification:', *by_specification(stamp))
    found = parse(stamp)
    print(f'{count} hashes, by dnsstamps:', found.hashes, found.hostname, found.path, *found.bootstrap_ips)
PY
seen=$(venv/bin/python stamps.py)
expected='0 hashes, by the specification: [] dns.example /dns-query
0 hashes, by dnsstamps: [] dns.example /dns-query
1 hashes, by the specification: ['\''aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'\''] dns.example /dns-query
1 hashes, by dnsstamps: [] aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa dns.example /dns-query
2 hashes, by the specification: ['\''aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'\'', '\''bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb'\''] dns.example /dns-query
2 hashes, by dnsstamps: [] aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb dns.example'
printf 'expected: the two lines of each stamp alike\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
