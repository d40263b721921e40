#!/usr/bin/env bash
# APScheduler has a function with the name from_crontab, so one would guess that it reads a line as cron reads it.
# It does not: its weekday 0 is Monday, not Sunday, so "0 3 * * 0" fires on Mondays.
# When a line restricts the day of the month and the weekday, cron fires on both; APScheduler only fires where both agree.
# "0 0 1,15 * 5" therefore fires on 1 August 2026 (a Saturday, its weekday 5) as the first day of that year.
# A scan that was moved from a crontab starts on another day, or a few times a year, and no error is reported.
# croniter, in the same environment, fires as cron does. Names of days (sun, fri) mean the same in both.
# Seen with APScheduler 3.11.3 and croniter 7.0.0.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check apscheduler==3.11.3 croniter==7.0.0

seen=$("$work/venv/bin/python" - <<'PY'
from datetime import datetime, timezone
from apscheduler.triggers.cron import CronTrigger
from croniter import croniter

start = datetime(2026, 1, 1, 1, tzinfo=timezone.utc)
for line in ('0 3 * * 0', '0 0 1,15 * 5', '0 3 * * sun'):
    ours = CronTrigger.from_crontab(line, timezone='UTC').get_next_fire_time(None, start)
    cron = croniter(line, start).get_next(datetime)
    print(f'{line:<13} APScheduler {ours:%a %Y-%m-%d}, croniter {cron:%a %Y-%m-%d}')
PY
)
expected='0 3 * * 0     APScheduler Mon 2026-01-05, croniter Sun 2026-01-04
0 0 1,15 * 5  APScheduler Sat 2026-08-01, croniter Fri 2026-01-02
0 3 * * sun   APScheduler Sun 2026-01-04, croniter Sun 2026-01-04'
printf 'APScheduler 3.11.3, croniter 7.0.0\nexpected: both libraries fire on the same day\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
