#!/usr/bin/env bash
# "0 0 */2 * 1" has a step for the day of the month and a weekday. crontab(5) says that a line with both day fields runs when either matches, if both are restricted, "ie, aren't *"; it leaves open what */2 is.
# One would guess that libraries for cron lines run it when cron does.
# cron of Debian counts each field that begins with a star as not restricted, so that both fields must match: it runs on Mondays with an odd date, twice or three times a month.
# croniter (PyPI), croner and cron-parser (npm) run it on each odd date and on each Monday, some 17 days a month. cronsim (PyPI) follows cron. "1-31/2" names the same days, and all four run it as cron does, on either.
# A scan that was moved from a crontab runs eight times as often, and no error is reported.
# Seen with cron 3.0pl1-162 and libfaketime 0.9.10 (Debian 12), which the script only unpacks and runs as root in namespaces of its own, croniter 7.0.0, cronsim 2.7, croner 11.0.1 and cron-parser 5.4.0.
set -euo pipefail
[[ $(id -u) == 0 ]] || { echo 'needs root' >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -q cron=3.0pl1-162 libfaketime > apt.log 2>&1 || { cat apt.log >&2; echo 'needs the packages cron 3.0pl1-162 and libfaketime of Debian 12' >&2; exit 2; }
for package in *.deb; do dpkg-deb --extract "$package" package; done
npm install --silent --no-audit --no-fund --prefix "$work" croner@11.0.1 cron-parser@5.4.0
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check croniter==7.0.0 cronsim==2.7
lines=('0 0 */2 * 1' '0 0 1-31/2 * 1')
# A Monday with an even date, a Tuesday with an odd one, a Wednesday with an even one, a Monday with an odd one.
days=(2026-11-02 2026-11-03 2026-11-04 2026-11-09)
export TZ=UTC work
cat > night.sh <<'SH'
# Runs cron over one midnight, ten times as fast as the clock. $1 is the day before it, $2 the midnight.
mount -t tmpfs none /var/spool && mount -t tmpfs none /run && mount -t tmpfs none /etc/cron.d && mount -t tmpfs none /etc/pam.d
printf '%s required pam_permit.so\n' auth account session > /etc/pam.d/cron
mkdir -p /var/spool/cron/crontabs
cp table /var/spool/cron/crontabs/root
chmod 600 /var/spool/cron/crontabs/root
sed -i "s/DAY/$2/" /var/spool/cron/crontabs/root
FAKETIME="@$1 23:59:40 x10" LD_PRELOAD=$(echo "$work"/package/usr/lib/*/faketime/libfaketime.so.1) "$work/package/usr/sbin/cron" -f &
sleep 5
kill $!
SH
for index in 0 1; do printf '%s touch %s/ran.%s.DAY\n' "${lines[$index]}" "$work" "$index"; done > table
for day in "${days[@]}"; do
  unshare --mount --pid --fork --kill-child bash night.sh "$(date -d "$day - 1 day" +%F)" "$day" &
done
wait
cat > run.cjs <<'JS'
const { Cron } = require('croner')
const { CronExpressionParser } = require('cron-parser')

const [lines, days] = process.argv.slice(2).map((list) => list.split('|'))
const midnight = (day) => new Date(`${day}T00:00:00Z`)
for (const line of lines) {
  const before = (day) => new Date(midnight(day) - 1000)
  const next = { croner: (day) => new Cron(line, { timezone: 'UTC' }).nextRun(before(day)), 'cron-parser': (day) => CronExpressionParser.parse(line, { currentDate: before(day), tz: 'UTC' }).next().toDate() }
  for (const [name, find] of Object.entries(next)) console.log(`${name}: ${line}:`, ...days.filter((day) => Number(find(day)) === Number(midnight(day))))
}
JS
cat > run.py <<'PY'
import sys
from datetime import datetime, timedelta

from croniter import croniter
from cronsim import CronSim

lines, days = (text.split('|') for text in sys.argv[1:])
for line in lines:
    for name, find in (('croniter', lambda before: croniter(line, before).get_next(datetime)), ('cronsim', lambda before: next(CronSim(line, before)))):
        midnights = [datetime.fromisoformat(day) for day in days]
        print(f'{name}: {line}:', *(midnight.date() for midnight in midnights if find(midnight - timedelta(seconds=1)) == midnight))
PY
join() { local IFS='|'; echo "$*"; }
seen=$(
  for index in 0 1; do
    echo "cron: ${lines[$index]}:$(for day in "${days[@]}"; do [[ ! -e ran.$index.$day ]] || printf ' %s' "$day"; done)"
  done
  node run.cjs "$(join "${lines[@]}")" "$(join "${days[@]}")"
  venv/bin/python run.py "$(join "${lines[@]}")" "$(join "${days[@]}")"
)
expected='cron: 0 0 */2 * 1: 2026-11-09
cron: 0 0 1-31/2 * 1: 2026-11-02 2026-11-03 2026-11-09
croner: 0 0 */2 * 1: 2026-11-02 2026-11-03 2026-11-09
cron-parser: 0 0 */2 * 1: 2026-11-02 2026-11-03 2026-11-09
croner: 0 0 1-31/2 * 1: 2026-11-02 2026-11-03 2026-11-09
cron-parser: 0 0 1-31/2 * 1: 2026-11-02 2026-11-03 2026-11-09
croniter: 0 0 */2 * 1: 2026-11-02 2026-11-03 2026-11-09
cronsim: 0 0 */2 * 1: 2026-11-09
croniter: 0 0 1-31/2 * 1: 2026-11-02 2026-11-03 2026-11-09
cronsim: 0 0 1-31/2 * 1: 2026-11-02 2026-11-03 2026-11-09'
printf 'expected: the days of cron from each\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
