#!/usr/bin/env bash
# An SSHFP record gives the fingerprint of the key of a host in hexadecimal digits (RFC 4255, section 3.2). dig writes them as capital letters, and splits more than 56 into parts with a blank (dig(1), +split), so each one of SHA-256.
# One would guess that a library to "handle and validate SSHFP DNS records" reads the record in each of these forms. dnspython does, and takes them for one.
# libsshfp reads small letters without a blank alone; it refuses the others with "No match", although its constructor accepts capital letters.
# A check of hosts by the output of dig finds no record to compare with.
# Seen with libsshfp 0.0.3 and dnspython 2.9.2.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check libsshfp==0.0.3 dnspython==2.9.2
cat > read.py <<'PY'
import dns.rdata
from libsshfp import SSHFP

small = 'c362bfe6eee3847ac5d6be851d932fc78716049858c9720925753d33bf7b3e9b'
record = dns.rdata.from_text('IN', 'SSHFP', f'4 2 {small}')
for name, text in (('small', small), ('capital', small.upper()), ('small, split', f'{small[:56]} {small[56:]}'), ('dig', f'{small[:56]} {small[56:]}'.upper())):
    try:
        seen = SSHFP.from_string(f'4 2 {text}').fingerprint == small
    except Exception as error:
        seen = error
    print(f"{name}: libsshfp {seen}, dnspython {dns.rdata.from_text('IN', 'SSHFP', f'4 2 {text}') == record}")
print('constructor, capital:', SSHFP(algo=4, ftype=2, fingerprint=small.upper()).fingerprint == small)
PY
seen=$(venv/bin/python read.py)
expected='small: libsshfp True, dnspython True
capital: libsshfp No match found in 4 2 C362BFE6EEE3847AC5D6BE851D932FC78716049858C9720925753D33BF7B3E9B, dnspython True
small, split: libsshfp No match found in 4 2 c362bfe6eee3847ac5d6be851d932fc78716049858c9720925753d33 bf7b3e9b, dnspython True
dig: libsshfp No match found in 4 2 C362BFE6EEE3847AC5D6BE851D932FC78716049858C9720925753D33 BF7B3E9B, dnspython True
constructor, capital: True'
printf 'expected: True from both in each form\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
