#!/usr/bin/env bash
# Two programs compare reports of nmap: ndiff, which belongs to nmap, and python-libnmap. One would guess that both show a changed result of a script, since that is where nmap reports weaknesses.
# python-libnmap compares ports by state, name, banner and reason only: where a script found anonymous logins yesterday and none today, both reports, hosts and services are equal. Results of scripts of the host are not compared either.
# ndiff of Debian 12 ends with a TypeError as soon as a script of a port differs; its exit code 2 is not the 1 of "reports differ". With --xml, or for scripts of the host, it works.
# An alarm on the first never sees what scripts found; an alarm on code 1 of the second misses it too.
# Seen with python-libnmap 0.7.3 and ndiff 7.93+dfsg1-1 (Debian 12, Python 3.11).
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check python-libnmap==0.7.3
(cd "$work" && apt-get -qq download ndiff=7.93+dfsg1-1 2> /dev/null && dpkg -x ndiff_*.deb ndiff) || { echo 'needs the package lists of Debian 12' >&2; exit 2; }

cat > "$work/write.py" <<'PY'
def write(name, version='3.0.3', port_script='Anonymous FTP login allowed', host_script='none'):
    with open(name + '.xml', 'w') as file:
        file.write(f'''<?xml version="1.0"?>
<nmaprun scanner="nmap" args="nmap" start="1" version="7.93" xmloutputversion="1.05">
<host><status state="up" reason="echo-reply"/><address addr="192.0.2.1" addrtype="ipv4"/><hostnames/>
<ports><port protocol="tcp" portid="21"><state state="open" reason="syn-ack" reason_ttl="64"/>
<service name="ftp" product="vsftpd" version="{version}" method="probed" conf="10"/>
<script id="ftp-anon" output="{port_script}"/></port></ports>
<hostscript><script id="smb-security-mode" output="{host_script}"/></hostscript></host>
<runstats><finished time="2" elapsed="1"/><hosts up="1" down="0" total="1"/></runstats></nmaprun>''')


write('first')
write('version', version='3.0.5')
write('port-script', port_script='Login refused')
write('host-script', host_script='message signing is off')
PY
cat > "$work/compare.py" <<'PY'
import sys

from libnmap.parser import NmapParser

first, second = map(NmapParser.parse_fromfile, sys.argv[1:])
changed = first.diff(second).changed() or first.hosts[0].diff(second.hosts[0]).changed()
print(f'libnmap {"changed" if changed else "no change"} and {"equal" if first == second else "not equal"},', end=' ')
PY
cd "$work"
python3 write.py
compare() {
  local code=0
  PYTHONPATH="$work/ndiff/usr/lib/python3/dist-packages" python3 ndiff/usr/bin/ndiff "$@" > out 2>&1 || code=$?
  printf 'code %s%s' "$code" "$(grep -o '^TypeError' out | sed 's/^/ /')"
}
seen=$(
  for what in version port-script host-script; do
    printf '%s: ' "$what"
    venv/bin/python compare.py first.xml "$what.xml"
    printf 'ndiff %s, ndiff --xml %s\n' "$(compare first.xml "$what.xml")" "$(compare --xml first.xml "$what.xml")"
  done
)
expected='version: libnmap changed and not equal, ndiff code 1, ndiff --xml code 1
port-script: libnmap no change and equal, ndiff code 2 TypeError, ndiff --xml code 1
host-script: libnmap no change and equal, ndiff code 1, ndiff --xml code 1'
printf 'python-libnmap 0.7.3 and ndiff 7.93, two reports that differ in one thing\nexpected: changed and not equal, code 1\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
