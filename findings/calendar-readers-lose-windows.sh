#!/usr/bin/env bash
# Maintenance windows, in which scans may run, come from calendars. RFC 5545 lets an event have further dates (RDATE, section 3.8.5.2), and moves one date and all that follow by RECURRENCE-ID with RANGE=THISANDFUTURE (section 3.8.4.4) for the event of that UID.
# One would guess that libraries which expand events return these windows.
# icalevents (PyPI) and node-ical (npm) lose the further date of the weekly window, and move one day of the daily window instead of two.
# ical-expander (npm) applies the moved days to the other event: the four weekly windows of four hours are gone, and an hour of the daily one stands behind each.
# There is no error: a scan runs outside its window, or not at all.
# recurring-ical-events (PyPI) returns what the RFC says.
# Seen with icalevents 0.3.1, node-ical 0.26.1, ical-expander 3.2.0 and recurring-ical-events 3.8.2.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" node-ical@0.26.1 ical-expander@3.2.0
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check icalevents==0.3.1 recurring-ical-events==3.8.2
sed 's/$/\r/' > windows.ics <<'TXT'
BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//example//EN
BEGIN:VEVENT
UID:weekly@example.com
DTSTAMP:20260101T000000Z
DTSTART:20261005T200000Z
DTEND:20261006T000000Z
RRULE:FREQ=WEEKLY;COUNT=3
RDATE:20261007T200000Z
SUMMARY:weekly
END:VEVENT
BEGIN:VEVENT
UID:daily@example.com
DTSTAMP:20260101T000000Z
DTSTART:20261001T010000Z
DTEND:20261001T020000Z
RRULE:FREQ=DAILY;COUNT=4
SUMMARY:daily
END:VEVENT
BEGIN:VEVENT
UID:daily@example.com
DTSTAMP:20260101T000000Z
RECURRENCE-ID;RANGE=THISANDFUTURE:20261003T010000Z
DTSTART:20261003T050000Z
DTEND:20261003T060000Z
SUMMARY:daily
END:VEVENT
END:VCALENDAR
TXT
cat > read.cjs <<'JS'
const { readFileSync } = require('node:fs')
const ical = require('node-ical')
const Expander = require('ical-expander')

const [from, to] = [new Date('2026-10-01'), new Date('2026-11-01')]
const show = (name, events) => console.log(`${name}: ${events.map(({ start, end, summary }) => `${start.toISOString().slice(5, 13)}-${end.toISOString().slice(11, 13)} ${summary}`).sort().join(', ')}`)
const calendar = ical.sync.parseFile('windows.ics')
show('node-ical', Object.values(calendar).filter(({ type }) => type === 'VEVENT').flatMap((event) => ical.expandRecurringEvent(event, { from, to })))
const { events, occurrences } = new Expander({ ics: readFileSync('windows.ics', 'utf8') }).between(from, to)
show('ical-expander', [...events, ...occurrences].map((one) => ({ start: one.startDate.toJSDate(), end: one.endDate.toJSDate(), summary: (one.item ?? one).summary })))
JS
cat > read.py <<'PY'
from datetime import datetime, timezone

import icalendar
import recurring_ical_events
from icalevents.icalevents import events

start, end = datetime(2026, 10, 1, tzinfo=timezone.utc), datetime(2026, 11, 1, tzinfo=timezone.utc)


def show(name, windows):
    print(f'{name}:', ', '.join(sorted(f'{begin:%m-%dT%H}-{until:%H} {summary}' for begin, until, summary in windows)))


show('icalevents', ((one.start, one.end, one.summary) for one in events(file='windows.ics', start=start, end=end)))
calendar = icalendar.Calendar.from_ical(open('windows.ics', 'rb').read())
show('recurring-ical-events', ((one.start, one.end, one['SUMMARY']) for one in recurring_ical_events.of(calendar).between(start, end)))
PY
seen=$(node read.cjs && venv/bin/python read.py)
expected='node-ical: 10-01T01-02 daily, 10-02T01-02 daily, 10-03T05-06 daily, 10-04T01-02 daily, 10-05T20-00 weekly, 10-12T20-00 weekly, 10-19T20-00 weekly
ical-expander: 10-01T01-02 daily, 10-02T01-02 daily, 10-03T05-06 daily, 10-04T05-06 daily, 10-06T00-01 daily, 10-08T00-01 daily, 10-13T00-01 daily, 10-20T00-01 daily
icalevents: 10-01T01-02 daily, 10-02T01-02 daily, 10-03T05-06 daily, 10-04T01-02 daily, 10-05T20-00 weekly, 10-12T20-00 weekly, 10-19T20-00 weekly
recurring-ical-events: 10-01T01-02 daily, 10-02T01-02 daily, 10-03T05-06 daily, 10-04T05-06 daily, 10-05T20-00 weekly, 10-07T20-00 weekly, 10-12T20-00 weekly, 10-19T20-00 weekly'
printf 'expected: the eight windows of recurring-ical-events from each\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
