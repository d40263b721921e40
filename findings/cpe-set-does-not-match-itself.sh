#!/usr/bin/env bash
# The Python library cpe has sets of CPE names with name_match, the matching of the CPE 2.3 specification. One would guess that a set with "version 1.0" matches the name "version 1.0", and that "any version" matches it too.
# For names in the form of the vulnerability database ("cpe:2.3:a:…") the answer is False for each pair, even for a name and itself. Names in the form of a URI behave alike.
# Only names in the form "wfn:[…]" match. The older CPESet2_2 works.
# A matcher that is built on the set reports no vulnerable product at all, without an error.
# Seen with cpe 1.3.1.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check cpe==1.3.1

seen=$("$work/venv/bin/python" - <<'PY'
from cpe.cpe2_2 import CPE2_2
from cpe.cpe2_3_fs import CPE2_3_FS
from cpe.cpe2_3_uri import CPE2_3_URI
from cpe.cpe2_3_wfn import CPE2_3_WFN
from cpe.cpeset2_2 import CPESet2_2
from cpe.cpeset2_3 import CPESet2_3

OTHERS = ', '.join(f'{name}=ANY' for name in ('update', 'edition', 'language', 'sw_edition', 'target_sw', 'target_hw', 'other'))
FORMS = (
    ('formatted string', CPESet2_3, CPE2_3_FS, 'cpe:2.3:a:acme:door:{}:*:*:*:*:*:*:*', '1.0', '*'),
    ('URI', CPESet2_3, CPE2_3_URI, 'cpe:/a:acme:door:{}', '1.0', ''),
    ('wfn', CPESet2_3, CPE2_3_WFN, 'wfn:[part="a", vendor="acme", product="door", version={}, ' + OTHERS + ']', r'"1\.0"', 'ANY'),
    ('version 2.2', CPESet2_2, CPE2_2, 'cpe:/a:acme:door:{}', '1.0', ''),
)
for form, Names, Name, text, version, every in FORMS:
    known = Names()
    known.append(Name(text.format(version)))
    print(f'{form}: itself {known.name_match(Name(text.format(version)))}, any version {known.name_match(Name(text.format(every)))}')
PY
)
expected='formatted string: itself False, any version False
URI: itself False, any version False
wfn: itself True, any version True
version 2.2: itself True, any version True'
printf 'cpe 1.3.1, a set with version 1.0\nexpected: True in all places\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
