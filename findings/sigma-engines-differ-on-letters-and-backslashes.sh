#!/usr/bin/env bash
# Sigma compares texts without regard to case unless a rule says "cased", and allows two backslashes for each one of a path: 'C:\\Windows\\*' and 'C:\Windows\\*' are equal.
# One would guess that two engines find the same events with such a rule.
# The SQLite backend of pySigma compares whole values exactly, and parts of values without regard to case: "Image|endswith" finds CMD.EXE, and "OriginalFileName: Cmd.Exe" does not.
# azuma ignores case in both, and finds nothing by a path whose backslashes are all doubled.
# Each engine accepts the rule that it will never match.
# Seen with pySigma 2.0.1, pySigma-backend-sqlite 2.1.1 and azuma 0.7.3.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pysigma==2.0.1 pysigma-backend-sqlite==2.1.1 azuma==0.7.3
cat > "$work/match.py" <<'PY'
import sqlite3

import azuma
from sigma.backends.sqlite import sqliteBackend
from sigma.collection import SigmaCollection

LINES = (
    ('Image|endswith', r'\cmd.exe', r'C:\Windows\CMD.EXE'),
    ('Image', 'Cmd.Exe', 'CMD.EXE'),
    ('Image', '*Cmd.Exe', 'CMD.EXE'),
    ('Image', r'C:\Windows\\*', r'C:\Windows\cmd.exe'),
    ('Image', r'C:\\Windows\\*', r'C:\Windows\cmd.exe'),
)
for field, pattern, value in LINES:
    rule = {
        'title': 'lab', 'id': '5013fc65-0000-4000-8000-000000000001', 'status': 'test', 'level': 'high', 'description': 'lab', 'author': 'lab',
        'logsource': {'category': 'process_creation', 'product': 'windows'},
        'detection': {'selection': {field: pattern}, 'condition': 'selection'},
    }
    query = sqliteBackend().convert(SigmaCollection.from_dicts([rule]))[0]
    database = sqlite3.connect(':memory:')
    database.execute('create table logs (Image text)')
    database.execute('insert into logs values (?)', [value])
    found = bool(database.execute(query.replace('<TABLE_NAME>', 'logs')).fetchall())
    print(f'{field}: {pattern} and {value}: sqlite {found}, azuma {azuma.Rule.model_validate(rule).match({"Image": value})}')
PY
seen=$("$work/venv/bin/python" "$work/match.py")
expected='Image|endswith: \cmd.exe and C:\Windows\CMD.EXE: sqlite True, azuma True
Image: Cmd.Exe and CMD.EXE: sqlite False, azuma True
Image: *Cmd.Exe and CMD.EXE: sqlite True, azuma True
Image: C:\Windows\\* and C:\Windows\cmd.exe: sqlite True, azuma True
Image: C:\\Windows\\* and C:\Windows\cmd.exe: sqlite True, azuma False'
printf 'expected: True from both in each line\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
