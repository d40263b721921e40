#!/usr/bin/env bash
# A statement of OpenVEX 0.2.0 names a list of products; the role of the author and the time of a statement are optional. One would guess that a library for VEX reads what the format allows.
# lib4vex keeps the last product of each statement and says nothing about the others: "not affected" for two packages becomes "not affected" for one.
# A document without a role, or a statement without a time, ends with a KeyError.
# The text of action_statement ends up as the time of the action.
# go-vex, the library of the format's authors, reads both documents whole.
# Documents that both shall read need a role, a time in each statement, and one product a statement.
# Seen with lib4vex 0.2.3 and go-vex 0.2.9.
set -euo pipefail
command -v go > /dev/null || { echo 'needs go' >&2; exit 2; }
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check lib4vex==0.2.3
mkdir "$work/go"
cat > "$work/go/main.go" <<'GO'
package main

import (
	"fmt"
	"os"

	"github.com/openvex/go-vex/pkg/vex"
)

func main() {
	document, err := vex.Open(os.Args[1])
	if err != nil {
		fmt.Println("go-vex:", err)
		return
	}
	fmt.Print("go-vex:")
	for _, statement := range document.Statements {
		for _, product := range statement.Products {
			fmt.Print(" ", product.ID)
		}
	}
	fmt.Println()
}
GO
(cd "$work/go" && go mod init lab && go get github.com/openvex/go-vex/pkg/vex@v0.2.9 && go build -o "$work/read" .) > "$work/log" 2>&1 || { cat "$work/log" >&2; exit 2; }

cat > "$work/read.py" <<'PY'
import sys

from lib4vex.parser import VEXParser

parser = VEXParser()
try:
    parser.parse(sys.argv[1])
    found = parser.get_vulnerabilities()
    print('lib4vex:', *(one['purl'] for one in found), '| time of the action:', found[0]['action_timestamp'])
except KeyError as error:
    print('lib4vex: KeyError', error)
PY
statement='"vulnerability":{"name":"CVE-2024-0001"},"products":[{"@id":"pkg:npm/one@1.0.0"},{"@id":"pkg:npm/two@1.0.0"}],"status":"affected","action_statement":"update"'
about='"@context":"https://openvex.dev/ns/v0.2.0","@id":"https://example.org/vex","author":"lab","timestamp":"2026-01-01T00:00:00Z","version":1'
printf '{%s,"statements":[{%s}]}' "$about" "$statement" > "$work/required.json"
printf '{%s,"role":"lab","statements":[{"timestamp":"2026-01-01T00:00:00Z",%s}]}' "$about" "$statement" > "$work/optional.json"
seen=$(
  for fields in required optional; do
    echo "$fields fields:"
    "$work/read" "$work/$fields.json"
    "$work/venv/bin/python" "$work/read.py" "$work/$fields.json"
  done
)
expected="required fields:
go-vex: pkg:npm/one@1.0.0 pkg:npm/two@1.0.0
lib4vex: KeyError 'role'
optional fields:
go-vex: pkg:npm/one@1.0.0 pkg:npm/two@1.0.0
lib4vex: pkg:npm/two@1.0.0 | time of the action: update"
printf 'lib4vex 0.2.3 and go-vex 0.2.9 on a statement with two products\nexpected: both products by both\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
