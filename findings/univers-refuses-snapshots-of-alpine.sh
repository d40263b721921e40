#!/usr/bin/env bash
# Images are checked by the versions of their packages. Those of Alpine may have a suffix for a snapshot: musl, the C library of each image of Alpine 3.19, is 1.2.4_git20230717-r4. apk takes such a version for later than 1.2.4.
# One would guess that univers, whose list of schemes has Alpine, compares them.
# It knows _alpha, _beta, _pre, _rc and _p, and refuses _git, _cvs, _svn and _hg: the installed package cannot be compared with the fixed one.
# A scanner that leaves out what it cannot compare reports no weakness of the library that every program of the image uses.
# go-apk-version compares them.
# Seen with univers 32.0.1 and go-apk-version v0.0.0-20200609155635-041fdbb8563f.
set -euo pipefail
command -v go > /dev/null || { echo 'needs go' >&2; exit 2; }
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check univers==32.0.1
mkdir go
cat > go/main.go <<'GO'
package main

import (
	"fmt"
	"os"

	version "github.com/knqyf263/go-apk-version"
)

func main() {
	for i := 1; i < len(os.Args); i += 2 {
		left, err := version.NewVersion(os.Args[i])
		if err != nil {
			panic(err)
		}
		right, err := version.NewVersion(os.Args[i+1])
		if err != nil {
			panic(err)
		}
		fmt.Println("go-apk-version:", os.Args[i], string("<=>"[left.Compare(right)+1]), os.Args[i+1])
	}
}
GO
(cd go && go mod init lab && go get github.com/knqyf263/go-apk-version@v0.0.0-20200609155635-041fdbb8563f && go build -o "$work/compare" .) > log 2>&1 || { cat log >&2; exit 2; }
cat > compare.py <<'PY'
import sys

from univers.versions import AlpineLinuxVersion, InvalidVersion

for left, right in zip(sys.argv[1::2], sys.argv[2::2]):
    try:
        sign = '<' if AlpineLinuxVersion(left) < AlpineLinuxVersion(right) else '>='
        print('univers:', left, sign, right)
    except InvalidVersion:
        print('univers:', left, 'or', right, 'is invalid')
PY
pairs=(1.2.4_git20230717-r4 1.2.4_git20230717-r5 1.2.4-r0 1.2.4_git20230717-r4 1.2.4_rc1-r0 1.2.4-r0 1.2.4-r0 1.2.4_p1-r0)
seen=$(./compare "${pairs[@]}" && venv/bin/python compare.py "${pairs[@]}")
expected='go-apk-version: 1.2.4_git20230717-r4 < 1.2.4_git20230717-r5
go-apk-version: 1.2.4-r0 < 1.2.4_git20230717-r4
go-apk-version: 1.2.4_rc1-r0 < 1.2.4-r0
go-apk-version: 1.2.4-r0 < 1.2.4_p1-r0
univers: 1.2.4_git20230717-r4 or 1.2.4_git20230717-r5 is invalid
univers: 1.2.4-r0 or 1.2.4_git20230717-r4 is invalid
univers: 1.2.4_rc1-r0 < 1.2.4-r0
univers: 1.2.4-r0 < 1.2.4_p1-r0'
printf 'expected: < from each\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
