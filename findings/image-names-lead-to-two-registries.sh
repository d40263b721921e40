#!/usr/bin/env bash
# A container image is pulled from the registry before the first slash if that part has a dot or a port, or is localhost; otherwise from docker.io. The rule and its library are Docker's.
# One would guess that libraries for image names agree on the registry, which decides what a scanner of images reads and which credentials it sends.
# docker-parse-image (npm) takes the first of three parts for a registry whatever it is: host/team/app is on docker.io for Docker, on "host" for it. localhost/app is on docker.io for it. A digest becomes a tag, and its full name can then not be pulled.
# parse-docker-image-name (npm), docker-image-py (PyPI, parse_normalized_named) and Docker's library agree.
# Seen with docker-parse-image 3.0.1, parse-docker-image-name 3.0.0, docker-image-py 0.2.0 and distribution/reference 0.6.0.
set -euo pipefail
command -v go > /dev/null || { echo 'needs go' >&2; exit 2; }
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" docker-parse-image@3.0.1 parse-docker-image-name@3.0.0
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check docker-image-py==0.2.0
mkdir go
cat > go/main.go <<'GO'
package main

import (
	_ "crypto/sha256"
	"fmt"
	"os"

	"github.com/distribution/reference"
)

func main() {
	for _, name := range os.Args[1:] {
		named, err := reference.ParseNormalizedNamed(name)
		if err != nil {
			fmt.Println("reference:", err)
			continue
		}
		fmt.Println("reference:", reference.Domain(named), named)
	}
}
GO
(cd go && go mod init lab && go get github.com/distribution/reference@v0.6.0 && go build -o "$work/read" .) > log 2>&1 || { cat log >&2; exit 2; }
cat > read.mjs <<'JS'
import parse from 'docker-parse-image'
import other from 'parse-docker-image-name'

for (const name of process.argv.slice(2)) {
  const image = parse(name)
  console.log('docker-parse-image:', image.registry ?? 'docker.io', image.fullname)
  console.log('parse-docker-image-name:', (other.default ?? other)(name).domain ?? 'docker.io')
}
JS
cat > read.py <<'PY'
import sys

from docker_image.reference import Reference

for name in sys.argv[1:]:
    print('docker-image-py:', Reference.parse_normalized_named(name).split_hostname()[0])
PY
digest=sha256:$(printf '0%.0s' {1..64})
seen=$(
  for name in localhost/app host/team/app "example.com/app@$digest"; do
    echo "$name"
    ./read "$name"
    node read.mjs "$name"
    venv/bin/python read.py "$name"
  done
)
seen=${seen//$digest/sha256:0}
expected='localhost/app
reference: localhost localhost/app
docker-parse-image: docker.io localhost/app:latest
parse-docker-image-name: localhost
docker-image-py: localhost
host/team/app
reference: docker.io docker.io/host/team/app
docker-parse-image: host host/team/app:latest
parse-docker-image-name: docker.io
docker-image-py: docker.io
example.com/app@sha256:0
reference: example.com example.com/app@sha256:0
docker-parse-image: example.com example.com/library/app:sha256:0
parse-docker-image-name: example.com
docker-image-py: example.com'
printf 'expected: one registry for each name\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
