#!/usr/bin/env bash
# jc turns outputs and files into JSON for checks of settings; it has a parser for the settings of sshd. In sshd the first value of a keyword holds, and the names of AllowUsers and DenyUsers add up over lines.
# One would guess that jc gives what sshd uses.
# It keeps the last value of a keyword, and the last line of users: sshd refuses passwords where jc says "yes", and lets alice in where jc names bob alone.
# The output of "sshd -T" has each keyword once but the lists, in a line for each name: jc reads the values right, and still loses alice.
# Seen with jc 1.26.1 and OpenSSH 9.2p1 (Debian 12).
set -euo pipefail
found=$(dpkg-query -W -f '${Version}' openssh-server 2> /dev/null || true)
[[ "$found" == 1:9.2p1* ]] || { echo "needs the Debian package openssh-server 9.2p1, found ${found:-none}" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check jc==1.26.1
ssh-keygen -q -t ed25519 -N '' -f "$work/key"
cat > "$work/sshd_config" <<TXT
HostKey $work/key
PasswordAuthentication no
AllowUsers alice
AllowUsers bob
PasswordAuthentication yes
TXT
wanted() { grep -iE '^(passwordauthentication|allowusers) ' | sort; }
# shellcheck disable=SC2016
flat='to_entries[] | .key as $key | .value | if type == "array" then .[] else . end | "\($key) \(.)"'
seen=$(
  echo 'sshd -T:'
  /usr/sbin/sshd -T -f "$work/sshd_config" | wanted
  echo 'jc of the file:'
  "$work/venv/bin/jc" --sshd-conf < "$work/sshd_config" | jq -r "$flat" | wanted
  echo 'jc of sshd -T:'
  /usr/sbin/sshd -T -f "$work/sshd_config" | "$work/venv/bin/jc" --sshd-conf | jq -r "$flat" | wanted
)
expected='sshd -T:
allowusers alice
allowusers bob
passwordauthentication no
jc of the file:
allowusers bob
passwordauthentication yes
jc of sshd -T:
allowusers bob
passwordauthentication no'
printf 'expected: the same three times\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
