#!/usr/bin/env bash
# A package URL has one canonical form, so one would guess that the libraries of its project write the same text and that texts can be compared.
# They do not: for a Debian package with a security update ("+deb12u1") and a repository, Python, JavaScript and Go write three different texts for one valid package URL.
# JavaScript leaves "+" in the version; Python leaves ":" and "/" in qualifiers; Go encodes "/" but not ":".
# Two inventories of one host that are joined by this text share no such package, so a waiver or a VEX statement by package URL is not found.
# Seen with packageurl-python 0.17.6, packageurl-js 2.0.1 and packageurl-go 0.1.7.
set -euo pipefail
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
purl='pkg:deb/debian/curl@7.88.1-10%2Bdeb12u8?repository_url=https:%2F%2Fdeb.example.com'
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check packageurl-python==0.17.6
npm install --silent --no-audit --no-fund --prefix "$work" packageurl-js@2.0.1
mkdir "$work/go"
cat > "$work/go/main.go" <<'GO'
package main

import (
	"fmt"
	"os"

	packageurl "github.com/package-url/packageurl-go"
)

func main() {
	purl, err := packageurl.FromString(os.Args[1])
	if err != nil {
		panic(err)
	}
	fmt.Println("Go", purl.ToString())
}
GO
(cd "$work/go" && go mod init purl && go get github.com/package-url/packageurl-go@v0.1.7 && go build -o purl .) > "$work/go.log" 2>&1 || {
  cat "$work/go.log" >&2
  exit 1
}

seen=$(
  "$work/venv/bin/python" -c 'import sys, packageurl; print("Python", packageurl.PackageURL.from_string(sys.argv[1]).to_string())' "$purl"
  (cd "$work" && node -e 'console.log("JavaScript", require("packageurl-js").PackageURL.fromString(process.argv[1]).toString())' "$purl")
  "$work/go/purl" "$purl"
)
expected='Python pkg:deb/debian/curl@7.88.1-10%2Bdeb12u8?repository_url=https://deb.example.com
JavaScript pkg:deb/debian/curl@7.88.1-10+deb12u8?repository_url=https%3A%2F%2Fdeb.example.com
Go pkg:deb/debian/curl@7.88.1-10%2Bdeb12u8?repository_url=https:%2F%2Fdeb.example.com'
printf 'input: %s\nexpected: one canonical text\nseen:\n%s\n' "$purl" "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
