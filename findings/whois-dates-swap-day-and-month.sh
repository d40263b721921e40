#!/usr/bin/env bash
# Registries write dates in their own ways; those of .rs, .cz and .fi as day.month.year. Watches over the expiry of domains read them with python-whois, which has a parser for each.
# One would guess that one date in this form is one day for all three.
# For .rs, python-whois takes the first number for the month where it can: a domain that expires on 3 April expires on 4 March, one that expires on 17 April on that day. There is no error. .cz and .fi are right.
# Of the dates of a year, 132 are wrong, by up to 323 days.
# Seen with python-whois 0.9.6.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check python-whois==0.9.6
cat > "$work/read.py" <<'PY'
from whois.parser import WhoisEntry

for date in ('03.04.2027', '17.04.2027'):
    answers = {
        'example.rs': f'Domain name: example.rs\nDomain status: Active\nRegistration date: 01.01.2005 10:00:00\nExpiration date: {date} 10:00:00\n',
        'example.cz': f'domain:       example.cz\nregistered:   01.01.2005 10:00:00\nexpire:       {date}\n',
        'example.fi': f'domain.............: example.fi\nstatus.............: Registered\ncreated............: 1.1.2005 10:00:00\nexpires............: {date.replace("0", "", 1).replace(".0", ".")} 10:00:00\n',
    }
    for domain, text in answers.items():
        print(date, domain, WhoisEntry.load(domain, text)['expiration_date'].date())
PY
seen=$("$work/venv/bin/python" "$work/read.py")
expected='03.04.2027 example.rs 2027-03-04
03.04.2027 example.cz 2027-04-03
03.04.2027 example.fi 2027-04-03
17.04.2027 example.rs 2027-04-17
17.04.2027 example.cz 2027-04-17
17.04.2027 example.fi 2027-04-17'
printf 'expected: 2027-04-03 and 2027-04-17, three times each\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
