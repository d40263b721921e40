#!/usr/bin/env bash
# Packages that are built between two releases have a caret in their version: "1.0^20210501" is later than 1.0 and earlier than 1.0.1. rpm sorts so since 4.15.
# One would guess that libraries that compare versions of rpm packages do the same.
# rpm-vercmp and version-utils (PyPI) take the caret for a separator, so the date is compared with the 1 of 1.0.1: the old package counts as newer than the release that fixed it.
# A comparison with the fixed version of an advisory then finds no vulnerable package. univers agrees with rpm.
# Seen with rpm 4.18.0 (Debian 12), rpm-vercmp 0.1.2, version-utils 0.3.2 and univers 32.0.1.
set -euo pipefail
found=$(dpkg-query -W -f '${Version}' rpm 2> /dev/null || true)
[[ "$found" == 4.18.0* ]] || { echo "needs the Debian package rpm 4.18.0, found ${found:-none}" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check rpm-vercmp==0.1.2 version-utils==0.3.2 univers==32.0.1
cat > "$work/compare.py" <<'PY'
import subprocess

import rpm_vercmp
import univers.rpm
import version_utils.rpm


def rpm(left, right):
    return subprocess.run(['rpm', '--eval', '%{lua: print(rpm.vercmp("' + left + '", "' + right + '"))}'], capture_output=True, text=True, check=True).stdout


libraries = {
    'rpm': rpm,
    'univers': univers.rpm.vercmp,
    'rpm-vercmp': rpm_vercmp.vercmp,
    'version-utils': lambda left, right: version_utils.rpm.compare_evrs(('0', left, ''), ('0', right, '')),
}
for left, right in (('1.0~rc1', '1.0'), ('1.0^20210501', '1.0'), ('1.0^20210501', '1.0.1')):
    print(left, 'and', right + ':', ', '.join(f'{name} {int(compare(left, right))}' for name, compare in libraries.items()))
PY
seen=$("$work/venv/bin/python" "$work/compare.py")
expected='1.0~rc1 and 1.0: rpm -1, univers -1, rpm-vercmp -1, version-utils -1
1.0^20210501 and 1.0: rpm 1, univers 1, rpm-vercmp 1, version-utils 1
1.0^20210501 and 1.0.1: rpm -1, univers -1, rpm-vercmp 1, version-utils 1'
printf 'expected: equal signs in each line\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
