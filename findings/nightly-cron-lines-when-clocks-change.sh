#!/usr/bin/env bash
# A nightly scan has the cron line "30 2 * * *" or "0 0 * * *" and a time zone. One would guess that every library runs it once a day, also on the days on which the clocks change.
# When Berlin puts the clocks back, 2:30 comes twice: croniter and APScheduler (PyPI) run the job twice, croner, cron-parser, cron (npm) and cronsim (PyPI) once.
# In Santiago the clocks go forward at midnight, so there is no 0:00: the others run the job at 1:00, APScheduler not at all. A missing 2:30 in Berlin it replaces by 3:30.
# So a comparison with the scan before compares a night with itself, or a day has no scan.
# Seen with croner 11.0.1, cron-parser 5.10.6, cron 4.4.0, croniter 7.0.0, cronsim 2.8 and APScheduler 3.11.3, with time zones of 2025.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" croner@11.0.1 cron-parser@5.10.6 cron@4.4.0
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check croniter==7.0.0 cronsim==2.8 APScheduler==3.11.3 tzdata==2026.6
# Line, time zone, start of the day there and of the next one.
cat > days.txt <<'TXT'
30 2 * * *|Europe/Berlin|2025-03-30T00:00:00+01:00|2025-03-31T00:00:00+02:00
30 2 * * *|Europe/Berlin|2025-10-26T00:00:00+02:00|2025-10-27T00:00:00+01:00
0 0 * * *|America/Santiago|2025-09-06T23:59:00-04:00|2025-09-07T23:59:00-03:00
TXT
cat > runs.cjs <<'JS'
const { readFileSync } = require('node:fs')
const { CronTime } = require('cron')
const { CronExpressionParser } = require('cron-parser')
const { Cron } = require('croner')

for (const day of readFileSync('days.txt', 'utf8').trim().split('\n')) {
  const [line, zone, from, to] = day.split('|')
  const start = new Date(from)
  const parsed = CronExpressionParser.parse(line, { currentDate: start, tz: zone })
  const dates = {
    croner: new Cron(line, { timezone: zone, paused: true }).nextRuns(3, start),
    'cron-parser': [1, 2, 3].map(() => parsed.next().toDate()),
    cron: [],
  }
  let last = start
  while (dates.cron.length < 3) dates.cron.push((last = new CronTime(line, zone).getNextDateFrom(last, zone).toJSDate()))
  const counts = Object.entries(dates).map(([name, runs]) => `${name} ${runs.filter((run) => run < new Date(to)).length}`)
  console.log(`${zone} ${from.slice(0, 10)}: ${counts.join(', ')}`)
}
JS
cat > runs.py <<'PY'
from datetime import datetime
from itertools import islice
from zoneinfo import ZoneInfo

from apscheduler.triggers.cron import CronTrigger
from croniter import croniter
from cronsim import CronSim


def scheduled(line, zone, start):
    trigger = CronTrigger.from_crontab(line, timezone=zone)
    last = trigger.get_next_fire_time(None, start)
    while True:
        yield last
        last = trigger.get_next_fire_time(last, last)


for day in open('days.txt'):
    line, name, start, end = day.strip().split('|')
    zone = ZoneInfo(name)
    begin = datetime.fromisoformat(start).astimezone(zone)
    dates = {
        'croniter': croniter(line, begin).all_next(datetime),
        'cronsim': CronSim(line, begin),
        'APScheduler': scheduled(line, zone, begin),
    }
    limit = datetime.fromisoformat(end).timestamp()
    counts = (f'{library} {sum(run.timestamp() < limit for run in islice(runs, 3))}' for library, runs in dates.items())
    print(f'{name} {start[:10]}: {", ".join(counts)}')
PY
seen=$(node runs.cjs && venv/bin/python runs.py)
expected='Europe/Berlin 2025-03-30: croner 1, cron-parser 1, cron 1
Europe/Berlin 2025-10-26: croner 1, cron-parser 1, cron 1
America/Santiago 2025-09-06: croner 1, cron-parser 1, cron 1
Europe/Berlin 2025-03-30: croniter 1, cronsim 1, APScheduler 1
Europe/Berlin 2025-10-26: croniter 2, cronsim 1, APScheduler 2
America/Santiago 2025-09-06: croniter 1, cronsim 1, APScheduler 0'
printf 'expected: one run a day\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
