#!/usr/bin/env bash
# A cron line with a day of the month and a weekday, "0 0 13 * 5", fires on each 13th and on each Friday: the manual of cron says so.
# One would guess that the libraries of npm agree. croner and cron-parser do.
# node-cron needs both to be true: in its reading the line fires on Friday the 13th only, one to three times a year.
# validate accepts the line, and no message tells the difference.
# A scan schedule that was written for one library is nearly silent in the other.
# Seen with node-cron 4.6.0, croner 11.0.1 and cron-parser 5.10.6.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
npm install --silent --no-audit --no-fund --prefix "$work" node-cron@4.6.0 croner@11.0.1 cron-parser@5.10.6

cat > "$work/days.cjs" <<'JS'
const { Cron } = require('croner')
const { CronExpressionParser } = require('cron-parser')
const nodeCron = require('node-cron')

const line = '0 0 13 * 5'
const now = new Date()
const parsed = CronExpressionParser.parse(line, { currentDate: now, tz: 'UTC' })
const task = nodeCron.createTask(line, () => {}, { timezone: 'UTC' })
task.start()
const days = {
  croner: new Cron(line, { timezone: 'UTC', paused: true }).nextRuns(20, now),
  'cron-parser': Array.from({ length: 20 }, () => parsed.next().toDate()),
  'node-cron': task.getNextRuns(20),
}
task.destroy()
console.log(`node-cron accepts the line: ${nodeCron.validate(line)}`)
for (const [name, dates] of Object.entries(days)) {
  const both = dates.filter((date) => date.getUTCDay() === 5 && date.getUTCDate() === 13).length
  const other = dates.length - both
  console.log(`${name}: ${both === 20 ? 'only Fridays the 13th' : other >= 18 ? 'Fridays and 13ths' : 'unclear'}`)
}
process.exit()
JS
seen=$(node "$work/days.cjs")
expected='node-cron accepts the line: true
croner: Fridays and 13ths
cron-parser: Fridays and 13ths
node-cron: only Fridays the 13th'
printf 'node-cron 4.6.0, croner 11.0.1, cron-parser 5.10.6 on "0 0 13 * 5"\nexpected: the same days\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
