#!/usr/bin/env bash
# In a crontab, "0 4 * * 6-7" is Saturday and Sunday at 4, since 7 is Sunday too. systemd-cron replaces cron by timers, so one would guess that it runs the same jobs at the same times.
# It writes a timer for every day: a range of weekdays that ends with 7 or "sun" loses its weekdays. The list "6,7" keeps them.
# "0 4 13 * 5" is each 13th and each Friday in cron; the timer needs both, so it elapses once or twice a year.
# No message tells. A scan that was allowed at weekends only runs on working days, and another one hardly ever runs.
# Seen with systemd-cron 1.15.19-5 (Debian 12), unpacked into a folder, with a folder for crontabs in a namespace of its own user.
set -euo pipefail
[[ -d /etc/cron.d ]] || { echo 'needs the folder /etc/cron.d' >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
cd "$work"
apt-get download -q systemd-cron=1.15.19-5 > apt.log 2>&1 || { cat apt.log >&2; echo 'needs the package systemd-cron 1.15.19-5 of Debian 12' >&2; exit 2; }
dpkg-deb --extract systemd-cron_*.deb package

# The lines: weekday fields that mean the weekend, and one with two day fields.
cat > lines.txt <<'TXT'
0 4 * * 6,7 root true
0 4 * * 6-7 root true
0 4 * * sat-sun root true
0 4 * * 5-7 root true
0 4 13 * 5 root true
TXT
mkdir timers
unshare --map-root-user --mount bash -c '
  mount -t tmpfs none /etc/cron.d
  cp lines.txt /etc/cron.d/finding
  python3 package/lib/systemd/system-generators/systemd-crontab-generator timers timers timers'
seen=$(
  for number in 0 1 2 3 4; do
    sed -n 's/^Description=\[Timer\] "\(.*\) root true"$/\1:/p; s/^OnCalendar= */  /p' "timers/cron-finding-root-$number.timer" | paste -s -d ''
  done
)
expected='0 4 * * 6,7:  Sun,Sat *-*-* 4:0:00
0 4 * * 6-7:  *-*-* 4:0:00
0 4 * * sat-sun:  *-*-* 4:0:00
0 4 * * 5-7:  *-*-* 4:0:00
0 4 13 * 5:  Fri *-*-13 4:0:00'
printf 'systemd-cron 1.15.19-5\nexpected: three timers for Saturday and Sunday, one from Friday to Sunday, one for each 13th and each Friday\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
