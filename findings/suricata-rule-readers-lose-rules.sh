#!/usr/bin/env bash
# A rule of Suricata begins with an action, one of alert, pass, drop, reject, rejectsrc, rejectdst and rejectboth; an address may be a group in a group, as [10.0.0.0/8,![10.1.0.0/16]]; and a quote or semicolon in a value is escaped ("Rules Format" in Suricata's manual: Action, Source and destination, Rule options).
# One would guess that libraries for these rules, by which sets of rules are compared and counted, read them.
# idstools and suricataparser leave out the rules with rejectsrc, rejectdst and rejectboth, and say nothing. idstools ends a group in a group too early: "]" is the port. suricataparser drops a quote that ends the message; idstools leaves the backslashes, so that the message is not the one in Suricata's log.
# parsuricata refuses the whole file for one such action.
# Seen with idstools 0.6.5, suricataparser 1.0.0 and parsuricata 0.4.1.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check idstools==0.6.5 suricataparser==1.0.0 parsuricata==0.4.1 lark-parser==0.12.0
cat > test.rules <<'RULES'
alert http any any -> [10.0.0.0/8,![10.1.0.0/16,10.2.0.0/16]] 80 (msg:"inside"; sid:1; rev:1;)
rejectsrc tcp any any -> any 21 (msg:"source"; sid:2; rev:1;)
rejectdst tcp any any -> any 22 (msg:"destination"; sid:3; rev:1;)
rejectboth tcp any any -> any 23 (msg:"both"; sid:4; rev:1;)
reject tcp any any -> any 24 (msg:"a\; \"b\""; sid:5; rev:1;)
RULES
cat > read.py <<'PY'
import parsuricata
import suricataparser
from idstools import rule

for item in rule.parse_file('test.rules'):
    print(f'idstools: {item["sid"]} {item["msg"]}, to {item["dest_addr"]} port {item["dest_port"]}')
for item in suricataparser.parse_file('test.rules'):
    print(f'suricataparser: {item.sid} {item.msg}, {item.header}')
for line in open('test.rules'):
    try:
        print('parsuricata:', parsuricata.parse_rules(line)[0].options[1].settings)
    except Exception as error:
        print(f'parsuricata: {type(error).__name__}, {line.split()[0]}')
PY
seen=$(venv/bin/python read.py)
expected='idstools: 1 inside, to [10.0.0.0/8,![10.1.0.0/16,10.2.0.0/16] port ]
idstools: 5 a\; \"b\", to any port 24
suricataparser: 1 inside, http any any -> [10.0.0.0/8,![10.1.0.0/16,10.2.0.0/16]] 80
suricataparser: 5 a\; \"b\, tcp any any -> any 24
parsuricata: 1
parsuricata: UnexpectedToken, rejectsrc
parsuricata: UnexpectedToken, rejectdst
parsuricata: UnexpectedToken, rejectboth
parsuricata: 5'
printf 'expected: five rules, the message of the last is a; "b"\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
