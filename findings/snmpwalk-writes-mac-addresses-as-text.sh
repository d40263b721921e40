#!/usr/bin/env bash
# Inventories read the MAC addresses of switches and printers with snmpwalk. One would guess that it prints each of them in one form, as six hexadecimal numbers.
# Without a file that describes ifPhysAddress (Debian ships none of the standard ones) it chooses the form by value: six printable bytes become a text, all others hexadecimal numbers.
# -Oq prints both in quotes without the type, so "BACDEF" could be either. Of random addresses about one in 400 is concerned.
# A reader of hexadecimal numbers skips such a device, or takes the text for its address. -Ox prints all in one form.
# Seen with snmp and snmpd 5.9.3 (Debian 12), in a network namespace of its own user with two interfaces.
set -euo pipefail
for name in snmp snmpd; do
  found=$(dpkg-query -W -f '${Version}' "$name" 2> /dev/null || true)
  [[ "$found" == 5.9.3* ]] || { echo "needs the Debian package $name 5.9.3, found ${found:-none}" >&2; exit 2; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf 'agentAddress udp:127.0.0.1:1161\nrocommunity public\n' > "$work/snmpd.conf"
cat > "$work/walk" <<'SH'
set -euo pipefail
export SNMPCONFPATH=. SNMP_PERSISTENT_DIR=. MIBS=
ip link set lo up
ip link add printable address 42:41:43:44:45:46 type veth peer name other address 52:54:00:12:34:56
snmpd -f -Lf snmpd.log -C -c snmpd.conf -p snmpd.pid &
trap 'kill $!' EXIT
ask() { snmpwalk -v2c -c public "$@" 127.0.0.1:1161 .1.3.6.1.2.1.2.2.1.6 | sed -n 's/^[^ ]* //; s/ *$//; /BACDEF\|52 54\|42 41/p' | sort; }
until [[ $(ask -On 2> /dev/null | wc -l) -eq 2 ]]; do sleep 0.1; done
ask -On
echo "-Oq:"; ask -Onq
echo "-Ox:"; ask -Onx
SH
seen=$(cd "$work" && timeout 30 unshare --map-root-user --net bash walk 2> walk.log) || { cat "$work/walk.log" >&2; exit 2; }
expected='= Hex-STRING: 52 54 00 12 34 56
= STRING: "BACDEF"
-Oq:
"52 54 00 12 34 56 "
"BACDEF"
-Ox:
= Hex-STRING: 42 41 43 44 45 46
= Hex-STRING: 52 54 00 12 34 56'
printf 'snmpwalk 5.9.3: interfaces 52:54:00:12:34:56 and 42:41:43:44:45:46\nexpected: both in one form\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
