#!/usr/bin/env bash
# A report about hashes in files names their kind. OpenBSD announced the prefix $2b$ for bcrypt in 2014, and crypt(5) of Debian 12 names it as the prefix of bcrypt. Debian stores passwords as yescrypt ($y$) since version 11, and RFC 9106 describes Argon2.
# One would guess that hashid and the newer name-that-hash know them, and that the JSON of the latter (--greppable) is JSON.
# Neither knows $2b$, while $2a$ and $2y$ are known. hashid, last released in 2015, calls yescrypt and Argon2 unknown too. The exit code is 0 each time.
# name-that-hash wraps its JSON at 80 columns when it writes to a file or a pipe, also within strings: for yescrypt no parser reads it. COLUMNS=1000 before the command helps.
# A report made with them leaves out the passwords of current systems, or calls them unknown.
# Seen with hashID 3.1.4 and name-that-hash 1.11.0. The hashes below are made of one letter, and belong to no password.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check hashID==3.1.4 name-that-hash==1.11.0
letters() { printf 'a%.0s' $(seq "$1"); }
hashes=("\$2a\$12\$$(letters 53)" "\$2b\$12\$$(letters 53)" "\$y\$j9T\$$(letters 22)\$$(letters 43)" "\$argon2id\$v=19\$m=65536,t=3,p=4\$$(letters 22)\$$(letters 43)")
seen=$(
  for hash in "${hashes[@]}"; do
    venv/bin/hashid "$hash" > answer
    env -u COLUMNS venv/bin/nth --no-banner --greppable --text "$hash" > narrow
    COLUMNS=1000 venv/bin/nth --no-banner --greppable --text "$hash" > wide
    jq . narrow > /dev/null 2>&1 && form='JSON' || form='no JSON'
    echo "${hash:0:9}: hashid $(sed -n '2s/^\[+\] *\(.*[^ ]\) *$/\1/p' answer), name-that-hash $(jq -r '.[][0].name' wide), $form"
  done
)
expected='$2a$12$aa: hashid Blowfish(OpenBSD), name-that-hash bcrypt, JSON
$2b$12$aa: hashid Unknown hash, name-that-hash null, JSON
$y$j9T$aa: hashid Unknown hash, name-that-hash yescrypt, no JSON
$argon2id: hashid Unknown hash, name-that-hash Argon2id, no JSON'
printf 'expected: a name for each from both, and JSON\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
