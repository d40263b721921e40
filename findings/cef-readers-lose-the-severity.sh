#!/usr/bin/env bash
# An event in CEF begins with seven fields between pipes, the last two its name and severity. A pipe in a field is written \|; an equals sign needs no escape there.
# One would guess that readers of CEF take the fields by the pipes.
# pycef and the CEF parser of jc look for the first "=" that follows a word without blanks. For a name with an equals sign, or with an escaped pipe, they return an empty name and no severity, and the rest of the header becomes the name of an extension.
# There is no error: a filter by severity misses the event. An escaped pipe in the maker's name is reported as an error by both.
# Senders should write names without "=" and "|".
# Seen with jc 1.26.1 and pycef 1.11.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check jc==1.26.1 pycef==1.11
cat > "$work/read.py" <<'PY'
import jc
import pycef

for name in ('login failed', r'login \| failed', 'login failed: user=root'):
    event = f'CEF:0|Example|Gate|1.0|100|{name}|10|src=192.0.2.1 dst=192.0.2.2'
    found = jc.parse('cef', event)[0]
    print('jc:', repr(found['name']), found.get('agentSeverity'), *(key for key in found if 'src' in key))
    found = pycef.parse(event)
    print('pycef:', repr(found['Name']), found.get('Severity'), *(key for key in found if 'src' in key))
PY
seen=$("$work/venv/bin/python" "$work/read.py")
expected="jc: 'login failed' 10 src
pycef: 'login failed' 10 src
jc: '' None failed_10_src
pycef: '' None failed|10|src
jc: '' None root_10_src
pycef: '' None root|10|src"
printf 'expected: the name, severity 10 and one key "src" in each line\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
