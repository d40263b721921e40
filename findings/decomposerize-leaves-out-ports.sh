#!/usr/bin/env bash
# decomposerize makes `docker run` commands of a Compose file, which inventories and tests of single containers read. Compose knows a short and a long syntax for ports and volumes, and $$ for a dollar sign ("Services" and "Interpolation" of its reference).
# One would guess that the command publishes the ports of the file, and starts what it names.
# decomposerize (npm) leaves out each port in the long syntax: the address and port of 127.0.0.1:8443 are missing. A command that is a list becomes one word with commas, and $$ stays.
# The volume in the long syntax gets read_only=true, which is the word of Compose; docker knows readonly.
# There is no error. An inventory of published ports is short.
# Seen with decomposerize 1.4.4.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" decomposerize@1.4.4
cat > compose.yaml <<'YAML'
services:
  web:
    image: debian:12
    command: ["sh", "-c", "echo $$HOME"]
    ports:
      - "8080:80"
      - target: 443
        published: "8443"
        host_ip: 127.0.0.1
    volumes:
      - type: bind
        source: /srv/data
        target: /data
        read_only: true
YAML
cat > convert.mjs <<'JS'
import { readFileSync } from 'node:fs'
import decomposerize from 'decomposerize'

console.log((decomposerize.default ?? decomposerize)(readFileSync('compose.yaml', 'utf8')))
JS
seen=$(node convert.mjs)
expected='docker run -p 8080:80 --mount type=bind,source=/srv/data,target=/data,read_only=true debian:12 sh,-c,echo $$HOME'
printf 'expected: docker run -p 8080:80 -p 127.0.0.1:8443:443, a mount with readonly, and sh -c with the text echo $HOME\nseen: %s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
