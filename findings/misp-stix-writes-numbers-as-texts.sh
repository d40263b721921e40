#!/usr/bin/env bash
# MISP exchanges what was seen in incidents, and misp-stix (PyPI), its converter, makes STIX 2.1 of it: an observation of each attribute, and an indicator with a pattern for matchers.
# One would guess that the pattern of an attribute finds the observation of the same attribute.
# misp-stix writes numbers in patterns as texts, dst_port = '443', while its observations hold integers, as STIX 2.1 describes dst_port. stix2-matcher (PyPI) compares the two as different: indicators of ports, addresses with ports, sizes and autonomous systems find nothing.
# An attribute that MISP marks as deleted becomes an indicator like any other, and a hash by SHA-512/256 is named SHA-256 in the pattern.
# There is no error and no warning. A search by such indicators reports that nothing was seen. Addresses, names and other hashes are found.
# Seen with misp-stix 2026.10.12 and stix2-matcher 3.0.0.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check misp-stix==2026.10.12 stix2-matcher==3.0.0
cat > convert.py <<'PY'
import hashlib
import json

from misp_stix_converter import MISPtoSTIX21Parser
from stix2matcher.matcher import match

UUID = '5a1b2c3d-0000-4000-8000-00000000000'
attributes = [
    ('ip-dst', '192.0.2.1', False),
    ('ip-dst', '192.0.2.2', True),
    ('ip-dst|port', '192.0.2.1|443', False),
    ('port', '443', False),
    ('size-in-bytes', '123', False),
    ('AS', 'AS64500', False),
    ('sha512/256', hashlib.new('sha512_256', b'lab').hexdigest(), False),
]
for kind, value, deleted in attributes:
    parser = MISPtoSTIX21Parser()
    attribute = {'uuid': f'{UUID}3', 'type': kind, 'value': value, 'category': 'Network activity', 'to_ids': True, 'deleted': deleted, 'timestamp': '1764000000'}
    parser.parse_misp_event({'Event': {'uuid': f'{UUID}1', 'info': 'lab', 'date': '2026-11-29', 'timestamp': '1764000000', 'Orgc': {'name': 'lab', 'uuid': f'{UUID}2'}, 'Attribute': [attribute]}})
    objects = [json.loads(one.serialize()) for one in parser.stix_objects]
    [pattern] = [one['pattern'] for one in objects if one['type'] == 'indicator']
    seen = [one for one in objects if one['type'] not in ('grouping', 'identity', 'indicator', 'relationship')]
    found = match(pattern, [{'type': 'bundle', 'id': f'bundle--{UUID}4', 'objects': seen}], stix_version='2.1')
    problems = [*parser.errors, *parser.warnings]
    print(f"{kind}{' (deleted)' if deleted else ''}: {pattern.rsplit(' AND ', 1)[-1].strip('[]').split(' = ')[0]}, {'found' if found else 'not found'}, {len(problems)} problems")
PY
seen=$(venv/bin/python convert.py 2> /dev/null)
expected="ip-dst: network-traffic:dst_ref.value, found, 0 problems
ip-dst (deleted): network-traffic:dst_ref.value, found, 0 problems
ip-dst|port: network-traffic:dst_port, not found, 0 problems
port: network-traffic:dst_port, not found, 0 problems
size-in-bytes: file:size, not found, 0 problems
AS: autonomous-system:number, not found, 0 problems
sha512/256: file:hashes.'SHA-256', found, 0 problems"
printf 'expected: all found, no indicator of the deleted one, and another name than SHA-256\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
