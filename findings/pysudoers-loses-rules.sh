#!/usr/bin/env bash
# Audits of hosts read who may become root from sudoers. "#1000" at the start of a line is the user with this number, a colon separates two lists of one line, for aliases and for hosts, and a blank in a name is escaped (sudoers(5)).
# One would guess that a library for the file finds the rules that sudo applies.
# pysudoers (PyPI) leaves out the user with a number, takes a part of a line with two hosts for both, so that the group wheel may run one command instead of all, takes a second alias for a member of the first, and ends a name at its blank.
# There is no error, and users who may become root are missing in the report.
# cvtsudoers, which belongs to sudo, prints all of it.
# Seen with pysudoers 3.0.0 and cvtsudoers of sudo 1.9.13p3 (Debian 12), which the script only unpacks.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
chmod 755 "$work"
apt-get download -q sudo > apt.log 2>&1 || { cat apt.log >&2; echo 'needs the package sudo of Debian 12' >&2; exit 2; }
dpkg-deb --extract sudo_*.deb package
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pysudoers==3.0.0
cat > sudoers <<'TXT'
User_Alias ADMINS = alice, bob : OPERATORS = carol
#1000 ALL = (ALL) ALL
%wheel web1 = (ALL) ALL : web2 = /bin/kill
eve\ adams ALL = ALL
TXT
cat > read.py <<'PY'
import logging

from pysudoers import Sudoers

logging.disable()
sudoers = Sudoers('sudoers')
print('pysudoers:', sudoers.user_aliases)
for rule in sudoers.rules:
    if rule:
        print('pysudoers:', *rule['users'], 'on', *rule['hosts'], 'runs', *(command['command'] for command in rule['commands']))
PY
seen=$(
  LD_LIBRARY_PATH=package/usr/libexec/sudo package/usr/bin/cvtsudoers -c /dev/null -f sudoers sudoers | grep . | sed 's/^/cvtsudoers: /'
  venv/bin/python read.py
)
expected='cvtsudoers: User_Alias ADMINS = alice, bob
cvtsudoers: User_Alias OPERATORS = carol
cvtsudoers: #1000 ALL = (ALL) ALL
cvtsudoers: %wheel web1 = (ALL) ALL : web2 = /bin/kill
cvtsudoers: "eve adams" ALL = ALL
pysudoers: {'\''ADMINS'\'': ['\''alice'\'', '\''bob:OPERATORS=carol'\'']}
pysudoers: %wheel on web1=(ALL) runs /bin/kill
pysudoers: eve\ on adams runs ALL'
printf 'expected: the aliases and rules of cvtsudoers\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
