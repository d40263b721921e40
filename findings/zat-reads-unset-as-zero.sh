#!/usr/bin/env bash
# Logs of Zeek write "-" for a value that was never seen, list members between commas, and bytes such as a backslash as \x5c.
# One would guess that the two readers of zat, the Zeek analysis tools for Python, return one meaning of a line.
# ZeekLogReader makes 0 of an unset number or port, and False of an unset bool: "no certificate was checked" and "the check failed" are one, and services appear on port 0. LogToDataFrame keeps the values unset.
# Both leave lists as texts, an empty one as "(empty)", and the escapes in texts.
# parsezeeklogs leaves unset fields out, splits lists and decodes escapes.
# Seen with zat 0.4.9 and parsezeeklogs 3.0.1.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check zat==0.4.9 parsezeeklogs==3.0.1
printf '%s\n' '#separator \x09' $'#set_separator\t,' $'#empty_field\t(empty)' $'#unset_field\t-' $'#path\tssl' $'#open\t2026-11-29-08-00-00' \
  $'#fields\tid.resp_p\tcert_count\tvalidated\tsans\tsubject' $'#types\tport\tcount\tbool\tset[string]\tstring' \
  $'443\t0\tF\ta.example.com,b.example.com\tCN=a\\x5c,b' $'-\t-\t-\t(empty)\t-' $'#close\t2026-11-29-09-00-00' > ssl.log
cat > read.py <<'PY'
import json

from parsezeeklogs import ParseZeekLogs
from zat.log_to_dataframe import LogToDataFrame
from zat.zeek_log_reader import ZeekLogReader

for row in ZeekLogReader('ssl.log').readrows():
    print('ZeekLogReader:', json.dumps(row))
frame = LogToDataFrame().create_dataframe('ssl.log', ts_index=False)
for row in frame.astype(object).where(frame.notna(), None).to_dict('records'):
    print('LogToDataFrame:', json.dumps(row))
for row in ParseZeekLogs('ssl.log', output_format='json', safe_headers=False):
    print('parsezeeklogs:', row)
PY
seen=$(venv/bin/python read.py | grep -v '^Successfully')
expected='ZeekLogReader: {"id.resp_p": 443, "cert_count": 0, "validated": false, "sans": "a.example.com,b.example.com", "subject": "CN=a\\x5c,b"}
ZeekLogReader: {"id.resp_p": 0, "cert_count": 0, "validated": false, "sans": "(empty)", "subject": "-"}
LogToDataFrame: {"id.resp_p": 443, "cert_count": 0, "validated": "F", "sans": "a.example.com,b.example.com", "subject": "CN=a\\x5c,b"}
LogToDataFrame: {"id.resp_p": null, "cert_count": null, "validated": null, "sans": "(empty)", "subject": null}
parsezeeklogs: {"id.resp_p": 443, "cert_count": 0, "validated": false, "sans": ["a.example.com", "b.example.com"], "subject": "CN=a\\,b"}
parsezeeklogs: {"sans": []}'
printf 'expected: the meaning of parsezeeklogs from each\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
