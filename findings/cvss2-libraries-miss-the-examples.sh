#!/usr/bin/env bash
# Old reports have CVSS 2 vectors. The guide of CVSS 2.0 rounds each score to one decimal, and works out three examples (sections 3.2 and 3.3): the highest environmental scores are 9.2, 9.0 and 7.5.
# One would guess that libraries give the scores of the guide's examples.
# ae-cvss-calculator (npm) gives 9.1 and 7.4 for the first and third. cvsslib (PyPI) gives 7.4 for the third.
# Of 3,000 random vectors, ae-cvss-calculator gives about 15 of 100 another environmental score than cvss, by up to 0.2, a few of another severity, and 2 of 1,000 another temporal score.
# Base scores agree. cvss (PyPI) and go-cvss give the scores of the guide.
# Seen with ae-cvss-calculator 1.0.13, cvsslib 1.0.0, cvss 3.6 and go-cvss 0.6.2.
set -euo pipefail
command -v go > /dev/null || { echo 'needs go' >&2; exit 2; }
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" ae-cvss-calculator@1.0.13
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check cvss==3.6 cvsslib==1.0.0
mkdir go
cat > go/main.go <<'GO'
package main

import (
	"fmt"
	"os"

	gocvss20 "github.com/pandatix/go-cvss/20"
)

func main() {
	fmt.Print("go-cvss:")
	for _, text := range os.Args[1:] {
		vector, err := gocvss20.ParseVector(text)
		if err != nil {
			panic(err)
		}
		fmt.Print(" ", vector.EnvironmentalScore())
	}
	fmt.Println()
}
GO
(cd go && go mod init lab && go get github.com/pandatix/go-cvss@v0.6.2 && go build -o "$work/score" .) > log 2>&1 || { cat log >&2; exit 2; }
cat > score.py <<'PY'
import sys

from cvss import CVSS2
from cvsslib import calculate_vector, cvss2

print('cvss:', *(CVSS2(vector).scores()[2] for vector in sys.argv[1:]))
print('cvsslib:', *(calculate_vector(vector, cvss2)[2] for vector in sys.argv[1:]))
PY
cat > score.cjs <<'JS'
const { Cvss2 } = require('ae-cvss-calculator')

console.log('ae-cvss-calculator:', ...process.argv.slice(2).map((vector) => new Cvss2(vector).calculateScores().environmental))
JS
vectors=(
  AV:N/AC:L/Au:N/C:N/I:N/A:C/E:F/RL:OF/RC:C/CDP:H/TD:H/CR:M/IR:M/AR:H
  AV:N/AC:L/Au:N/C:C/I:C/A:C/E:F/RL:OF/RC:C/CDP:H/TD:H/CR:M/IR:M/AR:L
  AV:L/AC:H/Au:N/C:C/I:C/A:C/E:POC/RL:OF/RC:C/CDP:H/TD:H/CR:M/IR:M/AR:M
)
seen=$(
  ./score "${vectors[@]}"
  venv/bin/python score.py "${vectors[@]}"
  node score.cjs "${vectors[@]}"
)
expected='go-cvss: 9.2 9 7.5
cvss: 9.2 9.0 7.5
cvsslib: 9.2 9.0 7.4
ae-cvss-calculator: 9.1 9 7.4'
printf 'expected: 9.2, 9.0 and 7.5 from each\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
