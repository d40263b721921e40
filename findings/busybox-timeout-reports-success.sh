#!/usr/bin/env bash
# timeout of GNU coreutils exits with 124 when it ended a command. One would guess that the timeout of BusyBox, which images of Alpine contain, does the same.
# BusyBox replaces itself by the command: the exit code is that of the command, 143 for most, and 0 for a program that ends cleanly on SIGTERM, as several scanners do.
# It also signals only the command itself, so processes that the command started in the background go on; GNU timeout signals its group.
# A check for 124 never matches in such a container, and a scan that was cut off counts as finished.
# Seen with BusyBox 1.35.0 and coreutils 9.1 (Debian 12).
set -euo pipefail
for package in busybox-static=1:1.35.0 coreutils=9.1; do
  found=$(dpkg-query -W -f '${Version}' "${package%%=*}" 2> /dev/null || true)
  [[ "${found%%-*}" == "${package#*=}" ]] || { echo "needs the Debian package $package, found ${found:-none}" >&2; exit 2; }
done

code() {
  local code=0
  "$@" > /dev/null 2>&1 || code=$?
  echo "$code"
}
# left SECONDS TIMEOUT...: whether a process in the background outlives the limit. The odd number of seconds names it.
left() {
  local name="sleep $1"
  shift
  "$@" sh -c "$name & $name" > /dev/null 2>&1 || true
  sleep 0.5
  if pgrep -f "^$name\$" > /dev/null; then echo yes; else echo no; fi
}
polite='trap "exit 0" TERM; sleep 3 & wait'
seen=$(
  echo "GNU: sleep $(code timeout 1 sleep 3), ends cleanly $(code timeout 1 sh -c "$polite"), background process left $(left 4.7361 timeout 1)"
  echo "BusyBox: sleep $(code busybox timeout 1 sleep 3), ends cleanly $(code busybox timeout 1 sh -c "$polite"), background process left $(left 4.7362 busybox timeout 1)"
)
expected='GNU: sleep 124, ends cleanly 124, background process left no
BusyBox: sleep 143, ends cleanly 0, background process left yes'
printf 'expected: 124, 124 and no for both\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
