#!/usr/bin/env bash
# Indicators of STIX 2.1 search mails and commands by parts of their text: [email-message:body LIKE '%invoice%']. In LIKE, % stands for any number of characters, as in SQL.
# One would guess that stix2-matcher (PyPI), the matcher of OASIS, finds the word in a mail of several lines.
# It makes a regular expression with "." of the pattern, which no end of line matches: it finds a word only where no end of line is in front of it, nor behind it but at the end, and NOT LIKE finds the mails that have the word. MATCHES 'invoice' finds it.
# There is no error. Bodies of mails, commands and scripts, whose texts have several lines, seem not to match, and texts in a test of one line do.
# LIKE of SQLite finds each of them.
# Seen with stix2-matcher 3.0.0, with Python 3.11.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check stix2-matcher==3.0.0
cat > match.py <<'PY'
import sqlite3

from stix2matcher.matcher import match

database = sqlite3.connect(':memory:')
mail = 'email-message--72b7698f-10c2-565a-a2a6-b4996a2f2265'
times = dict.fromkeys(('created', 'modified', 'first_observed', 'last_observed'), '2026-11-29T10:00:00Z')
for body in ('Your invoice is due.', 'Hello,\nyour invoice is due.\nBye', 'Hello,\nyour invoice'):
    observed = {'type': 'observed-data', 'spec_version': '2.1', 'id': 'observed-data--3f9f5e1c-6a80-4c6a-8bd0-0f0c3a1b7a11', 'number_observed': 1, 'object_refs': [mail], **times}
    message = {'type': 'email-message', 'spec_version': '2.1', 'id': mail, 'is_multipart': False, 'body': body}
    bundle = {'type': 'bundle', 'id': 'bundle--5d0092c5-5f74-4287-9642-33f4c354e56d', 'objects': [observed, message]}
    print(repr(body))
    for test in ("LIKE '%invoice%'", "NOT LIKE '%invoice%'", "MATCHES 'invoice'"):
        print(f'  {test}: stix2-matcher', bool(match(f'[email-message:body {test}]', [bundle], stix_version='2.1')))
    print("  LIKE '%invoice%': SQLite", bool(database.execute("SELECT ? LIKE '%invoice%'", (body,)).fetchone()[0]))
PY
seen=$(venv/bin/python match.py)
expected=''\''Your invoice is due.'\''
  LIKE '\''%invoice%'\'': stix2-matcher True
  NOT LIKE '\''%invoice%'\'': stix2-matcher False
  MATCHES '\''invoice'\'': stix2-matcher True
  LIKE '\''%invoice%'\'': SQLite True
'\''Hello,\nyour invoice is due.\nBye'\''
  LIKE '\''%invoice%'\'': stix2-matcher False
  NOT LIKE '\''%invoice%'\'': stix2-matcher True
  MATCHES '\''invoice'\'': stix2-matcher True
  LIKE '\''%invoice%'\'': SQLite True
'\''Hello,\nyour invoice'\''
  LIKE '\''%invoice%'\'': stix2-matcher False
  NOT LIKE '\''%invoice%'\'': stix2-matcher True
  MATCHES '\''invoice'\'': stix2-matcher True
  LIKE '\''%invoice%'\'': SQLite True'
printf 'expected: LIKE and MATCHES True, and NOT LIKE False\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
