#!/usr/bin/env bash
# A line of authorized_keys may begin with options: "A quote may be included in the command by quoting it with a backslash" (sshd(8), AUTHORIZED_KEYS FILE FORMAT).
# One would guess that a library for these files, by which audits list who may log in, reads what sshd accepts. authkeyline does.
# sshpubkeys drops the quotes of a command without blanks between them, and takes what stands behind such a blank for the key: the reading of the whole file then ends with an error, and no key of any user is listed.
# Seen with sshpubkeys 3.3.1 and authkeyline 0.2.0.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check sshpubkeys==3.3.1 authkeyline==0.2.0
cat > read.py <<'PY'
import io
import json

import authkeyline
import sshpubkeys

KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINlKO5YdRG6XqqzJNKfMLm0/Da0uLnNYFUQIXWXH46IC'
for options in ('restrict', 'restrict,command="rsync --server"', r'command="echo \"hi\""', r'command="echo \"good morning\""'):
    text = f'{options} {KEY} ann\n{KEY} bob\n'
    try:
        keys = sshpubkeys.AuthorizedKeysFile(io.StringIO(text), strict=False).keys
        seen = f'{len(keys)} keys, {json.dumps(keys[0].options)}'
    except Exception as error:
        seen = type(error).__name__
    first, *others = authkeyline.parse_file(text)
    print(f'{options}: sshpubkeys {seen}; authkeyline {1 + len(others)} keys, {json.dumps({option.name: option.value for option in first.options})}')
PY
seen=$(venv/bin/python read.py)
expected='restrict: sshpubkeys 2 keys, {"restrict": [true]}; authkeyline 2 keys, {"restrict": null}
restrict,command="rsync --server": sshpubkeys 2 keys, {"restrict": [true], "command": ["rsync --server"]}; authkeyline 2 keys, {"restrict": null, "command": "rsync --server"}
command="echo \"hi\"": sshpubkeys 2 keys, {"command": ["echo \\hi\\"]}; authkeyline 2 keys, {"command": "echo \"hi\""}
command="echo \"good morning\"": sshpubkeys MalformedDataError; authkeyline 2 keys, {"command": "echo \"good morning\""}'
printf 'expected: two keys each, with the options of authkeyline\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
