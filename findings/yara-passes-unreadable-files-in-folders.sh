#!/usr/bin/env bash
# yara exits with 1 when the named file cannot be read. One would guess that a file in a folder (-r) counts as much.
# In a folder, a file that cannot be read is one line on stderr, and the exit code is 0: the code of a clean folder, and also of one with matches.
# A scan by a user without rights to half of the files ends as a success without matches.
# Seen with yara 4.2.3 (Debian 12).
set -euo pipefail
found=$(dpkg-query -W -f '${Version}' yara 2> /dev/null || true)
[[ "$found" == 4.2.3* ]] || { echo "needs the Debian package yara 4.2.3, found ${found:-none}" >&2; exit 2; }
[[ "$(id -u)" == 0 ]] || { echo 'needs root, to scan as the user nobody' >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir "$work/open" "$work/closed"
echo 'a word' | tee "$work/open/file" > "$work/closed/file"
chmod 000 "$work/closed/file"
printf 'rule word { strings: $a = "word" condition: $a }\n' > "$work/rules.yar"

scan() {
  local code=0 out
  out=$(su nobody -s /bin/sh -c "cd '$work' && yara $*" 2> "$work/errors") || code=$?
  echo "code $code, matches $(grep -c . <<< "$out" || true), lines on stderr $(grep -c . "$work/errors" || true)"
}
seen="named file, readable: $(scan rules.yar open/file)
named file, not readable: $(scan rules.yar closed/file)
folder, readable: $(scan -r rules.yar open)
folder, not readable: $(scan -r rules.yar closed)"
expected='named file, readable: code 0, matches 1, lines on stderr 0
named file, not readable: code 1, matches 0, lines on stderr 1
folder, readable: code 0, matches 1, lines on stderr 0
folder, not readable: code 0, matches 0, lines on stderr 1'
printf 'yara 4.2.3\nexpected: code 1 for both that cannot be read\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
