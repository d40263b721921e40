#!/usr/bin/env bash
# A CVSS 3.1 vector without environmental metrics should have the environmental score of its base score; one would guess so, since all of these metrics are "not defined".
# The formula for a changed scope has other constants in the environmental part of 3.1, so the score can move by 0.1 in either direction.
# The Python library cvss and the Go library go-cvss compute it: this vector is 6.9 (Medium) in the base and 7.0 (High) in an environment that the vector does not describe.
# The npm library ae-cvss-calculator gives no environmental score then, and 6.9 as the overall score.
# Two tools that store "the last score" of one valid vector therefore disagree about its severity.
# Seen with cvss 3.6 (PyPI), go-cvss 0.6.4 and ae-cvss-calculator 1.0.13.
set -euo pipefail
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
vector=CVSS:3.1/AV:P/AC:H/PR:L/UI:R/S:C/C:H/I:H/A:H/RL:U
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check cvss==3.6
npm install --silent --no-audit --no-fund --prefix "$work" ae-cvss-calculator@1.0.13
mkdir "$work/go"
cat > "$work/go/main.go" <<'GO'
package main

import (
	"fmt"
	"os"

	cvss "github.com/pandatix/go-cvss/31"
)

func main() {
	vector, err := cvss.ParseVector(os.Args[1])
	if err != nil {
		panic(err)
	}
	fmt.Printf("go-cvss: base %.1f, environmental %.1f\n", vector.BaseScore(), vector.EnvironmentalScore())
}
GO
(cd "$work/go" && go mod init scores && go get github.com/pandatix/go-cvss@v0.6.4 && go build -o scores .) > "$work/go.log" 2>&1 || {
  cat "$work/go.log" >&2
  exit 1
}

seen=$(
  "$work/venv/bin/python" - "$vector" <<'PY'
import sys
from cvss import CVSS3

base, _, environmental = CVSS3(sys.argv[1]).scores()
print(f'cvss (Python): base {base}, environmental {environmental}')
PY
  "$work/go/scores" "$vector"
  cd "$work"
  node - "$vector" <<'JS'
const { base, environmental, overall } = require("ae-cvss-calculator").fromVector(process.argv[2]).calculateScores()
console.log(`ae-cvss-calculator: base ${base}, environmental ${environmental}, overall ${overall}`)
JS
)
expected='cvss (Python): base 6.9, environmental 7.0
go-cvss: base 6.9, environmental 7.0
ae-cvss-calculator: base 6.9, environmental undefined, overall 6.9'
printf '%s\nexpected: one score for all parts and libraries\nseen:\n%s\n' "$vector" "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
