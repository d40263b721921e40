#!/usr/bin/env bash
# A Dockerfile may hold scripts and files between <<NAME and NAME since version 1.4 of its syntax ("Here-Documents" in the reference). Their lines are no instructions.
# One would guess that readers of Dockerfiles know this syntax: it is of 2022.
# dockerfile-parse (PyPI) and docker-file-parser (npm) read the lines as instructions: a mail whose header begins with "From" is a base image, a script that names USER changes the user, a file that mentions EXPOSE opens a port. There is no error.
# dockerfilelint (npm) lints the text, and calls the end of it an invalid line.
# An inventory of base images gets one that does not exist, and a check for "the last user is root" sees the script.
# dockerfile-ast (npm) reads it right.
# Seen with dockerfile-parse 2.0.1, docker-file-parser 1.0.7, dockerfilelint 1.8.0 and dockerfile-ast 0.7.1.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" docker-file-parser@1.0.7 dockerfilelint@1.8.0 dockerfile-ast@0.7.1
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check dockerfile-parse==2.0.1
mkdir image
cat > image/Dockerfile <<'TXT'
FROM debian:12
USER app
EXPOSE 8443
COPY <<MAIL /etc/mail.txt
From noreply@example.com
User root
Expose 23
MAIL
TXT
cat > read.cjs <<'JS'
const { readFileSync } = require('node:fs')
const { parse } = require('docker-file-parser')
const { DockerfileParser } = require('dockerfile-ast')

const text = readFileSync('image/Dockerfile', 'utf8')
console.log('docker-file-parser:', parse(text).map(({ name, args }) => `${name} ${[args].flat().join(' ')}`).join(', '))
console.log('dockerfile-ast:', DockerfileParser.parse(text).getInstructions().map((one) => one.getKeyword()).join(', '))
JS
cat > read.py <<'PY'
from dockerfile_parse import DockerfileParser

file = DockerfileParser('image')
print('dockerfile-parse: base images', *file.parent_images)
print('dockerfile-parse:', ', '.join(f"{line['instruction']} {line['value']}" for line in file.structure))
PY
seen=$(
  node read.cjs
  venv/bin/python read.py
  { node_modules/.bin/dockerfilelint -o json image/Dockerfile || true; } | jq -r '"dockerfilelint: lines " + ([.files[0].issues[].line | tonumber] | unique | map(tostring) | join(" "))'
)
expected='docker-file-parser: FROM debian:12, USER app, EXPOSE 8443, COPY <<MAIL /etc/mail.txt, FROM noreply@example.com, USER root, EXPOSE 23, MAIL 
dockerfile-ast: FROM, USER, EXPOSE, COPY
dockerfile-parse: base images debian:12 noreply@example.com
dockerfile-parse: FROM debian:12, USER app, EXPOSE 8443, COPY <<MAIL /etc/mail.txt, FROM noreply@example.com, USER root, EXPOSE 23, MAIL 
dockerfilelint: lines 5 6 7 8'
printf 'expected: four instructions from each\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
