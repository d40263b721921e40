#!/usr/bin/env bash
# RDAP names the owner of a domain or network. Its contacts are jCards: an address may be one text, "label", beside seven empty parts (RFC 9083, section 5.1 and appendix C), an organisation with a unit is a list (RFC 7095, section 3.3.1.3), and "pref" tells which mail address comes first (RFC 6350, section 5.3).
# One would guess that readers of RDAP return what these contacts say.
# whodap (PyPI) drops an address that is a label, as the example of RFC 9083 has it, and keeps the last of several mail addresses without "pref".
# whoisit (PyPI) gives a contact with a unit the name "['Example Org', 'Unit']", as Python writes a list, and does not order the mail addresses by "pref".
# There is no error. A list of owners by name splits, and a message about a finding goes to another address.
# Each reader does right what the other does not.
# Seen with whodap 0.2.1 and whoisit 4.1.0.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check whodap==0.2.1 whoisit==4.1.0
cat > read.py <<'PY'
import json

from whodap.response import DomainResponse
from whoisit.parser import parse


class Bootstrap:
    def __getattr__(self, name):
        return lambda *_: ''


contacts = {
    'label': [['adr', {'label': '1 Road\nTown'}, 'text', [''] * 7]],
    'unit': [['org', {}, 'text', ['Example Org', 'Unit']]],
    'two': [['email', {}, 'text', 'one@example.com'], ['email', {}, 'text', 'two@example.com']],
    'pref': [['email', {'pref': '2'}, 'text', 'second@example.com'], ['email', {'pref': '1'}, 'text', 'first@example.com']],
}
for name, fields in contacts.items():
    card = ['vcard', [['version', {}, 'text', '4.0'], ['fn', {}, 'text', 'Ann'], *fields]]
    answer = {'objectClassName': 'domain', 'ldhName': 'example.com', 'events': [], 'entities': [{'objectClassName': 'entity', 'handle': 'C1', 'roles': ['registrant'], 'vcardArray': card}]}
    found = {str(key): value for key, value in DomainResponse.from_json(json.dumps(answer)).to_whois_dict().items()}
    texts = [found['registrant_name'], found['registrant_address'], found['registrant_email']]
    print(f'{name}, whodap:', *filter(None, texts))
    [found] = parse(Bootstrap(), 'domain', 'example.com', answer)['entities']['registrant']
    print(f'{name}, whoisit:', found['name'], *found.get('address', {}).get('label', '').splitlines(), *found.get('emails', []))
PY
seen=$(venv/bin/python read.py)
expected="label, whodap: Ann
label, whoisit: Ann 1 Road Town
unit, whodap: Ann
unit, whoisit: ['Example Org', 'Unit']
two, whodap: Ann two@example.com
two, whoisit: Ann one@example.com two@example.com
pref, whodap: Ann first@example.com
pref, whoisit: Ann second@example.com first@example.com"
printf 'expected: Ann each time, with the address, both mail addresses, and first@example.com before the other\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
