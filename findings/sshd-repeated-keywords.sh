#!/usr/bin/env bash
# The manual of sshd_config says that the first value of a keyword is used. One would guess that a second line, for example from an included file, is ignored.
# It depends on the keyword, and nothing in a file tells which: AcceptEnv and AllowUsers add up; SetEnv and PermitOpen ignore the second line without a message; a second "Subsystem sftp" is an error, and the server does not start.
# The usual tasks of one drop-in file per purpose therefore work for some keywords, do nothing for others, and lock the machine's administrator out with one.
# "sshd -T" shows the outcome before a restart.
# Seen with OpenSSH 9.2p1 (Debian 12).
set -euo pipefail
version=$(ssh -V 2>&1 | sed 's/[ ,].*//')
[[ "$version" == OpenSSH_9.2p1 ]] || { echo "needs OpenSSH_9.2p1, found $version" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ssh-keygen -q -t ed25519 -N '' -f "$work/host_key"

# outcome KEYWORD FIRST SECOND: how sshd reads two lines, the second one from an included file.
outcome() {
  printf '%s %s\n' "$1" "$3" > "$work/second.conf"
  printf '%s\n' "HostKey $work/host_key" "$1 $2" "Include $work/second.conf" > "$work/sshd_config"
  if /usr/sbin/sshd -T -f "$work/sshd_config" > "$work/out" 2> "$work/err"; then
    printf '%s: %s\n' "$1" "$(grep -i "^$1 " "$work/out" | cut -d ' ' -f 2- | paste -s -d ' ')"
  else
    printf '%s: refused, %s\n' "$1" "$(grep -o "'sftp' already defined" "$work/err")"
  fi
}
seen=$(
  outcome AcceptEnv LANG SCAN
  outcome AllowUsers alice bob
  outcome SetEnv A=1 B=2
  outcome PermitOpen one.example:22 two.example:22
  outcome Subsystem 'sftp internal-sftp' 'sftp internal-sftp'
)
expected="AcceptEnv: LANG SCAN
AllowUsers: alice bob
SetEnv: A=1
PermitOpen: one.example:22
Subsystem: refused, 'sftp' already defined"
printf '%s\nexpected: the first line counts\nseen:\n%s\n' "$version" "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
