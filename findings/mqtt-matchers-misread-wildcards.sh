#!/usr/bin/env bash
# Inventories of devices ask which topics of an MQTT broker a subscription matches. In MQTT 5.0 a filter that begins with a wildcard does not match topics that begin with $ (section 4.7.2), and "+" matches an empty level: "/finance" is in "+/+", and "sport/" in "sport/+" (section 4.7.1.3).
# One would guess that libraries which match topics follow the two rules.
# mqtt-match, mqtt-pattern, mqtt-wildcard and mqtt-regex (npm) find $SYS/broker in "#" and in "+/broker". mqtt-pattern and mqtt-regex do not find "/finance" in "+/+", nor "sport/" in "sport/+".
# There is no error. A list of the topics that a client receives names those of the broker's status, and lacks topics with an empty level.
# topic_matches_sub of paho-mqtt (PyPI) answers as the standard does.
# Seen with mqtt-match 3.0.0, mqtt-pattern 2.1.1, mqtt-wildcard 3.0.9, mqtt-regex 1.1.0 and paho-mqtt 2.1.0.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" mqtt-match@3.0.0 mqtt-pattern@2.1.1 mqtt-wildcard@3.0.9 mqtt-regex@1.1.0
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check paho-mqtt==2.1.0
cat > pairs.json <<'JSON'
[["#", "$SYS/broker"], ["+/broker", "$SYS/broker"], ["$SYS/#", "$SYS/broker"], ["+/+", "/finance"], ["sport/+", "sport/"], ["sport/+", "sport"], ["sport/#", "sport"]]
JSON
cat > match.cjs <<'JS'
const match = require('mqtt-match')
const pattern = require('mqtt-pattern')
const wildcard = require('mqtt-wildcard')
const regex = require('mqtt-regex')

const pairs = require('./pairs.json')
const show = (name, matches) => console.log(`${name}:`, ...pairs.map(([filter, topic]) => (matches(filter, topic) ? 'yes' : 'no')))
show('mqtt-match', match)
show('mqtt-pattern', pattern.matches)
show('mqtt-wildcard', (filter, topic) => wildcard(topic, filter))
show('mqtt-regex', (filter, topic) => regex(filter).exec(topic))
JS
cat > match.py <<'PY'
import json

from paho.mqtt.client import topic_matches_sub

print('paho-mqtt:', *('yes' if topic_matches_sub(*pair) else 'no' for pair in json.load(open('pairs.json'))))
PY
seen=$(node match.cjs && venv/bin/python match.py)
expected='mqtt-match: yes yes yes yes yes no yes
mqtt-pattern: yes yes yes no no no yes
mqtt-wildcard: yes yes yes yes yes no yes
mqtt-regex: yes yes yes no no no yes
paho-mqtt: no no yes yes yes no yes'
printf 'expected: no no yes yes yes no yes from each\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
