#!/usr/bin/env bash
# Reviews of servers read the settings of Apache. Only a line that begins with "#" is a comment: "Comments may not be included on the same line as a configuration directive"; names of directives ignore case (Apache's page "Configuration Files").
# One would guess that a parser for these files returns the values that Apache uses.
# apacheconfig (PyPI) cuts a value at "#", also within quotes: a redirect loses its anchor, a header its end. It removes the backslashes before quotes, so that a format of logs is another one, and keeps directives that differ in case apart: servername is not found by ServerName.
# There is no error. A comparison of headers or rewrites with what is wanted finds a difference that is none.
# Seen with apacheconfig 0.3.2.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check apacheconfig==0.3.2
cat > httpd.conf <<'TXT'
servername lab.example
Redirect "/old" "https://lab.example/new#top"
Header set X-Build "lab #7"
LogFormat "%h \"%r\" %>s" common
# A comment.
ServerAdmin admin@lab.example
TXT
cat > read.py <<'PY'
from apacheconfig import make_loader

with make_loader() as loader:
    for name, value in loader.load('httpd.conf').items():
        print(f'apacheconfig: {name}: {value}')
PY
# The loader writes tables of its grammar into the folder.
seen=$(venv/bin/python read.py 2> log)
expected='apacheconfig: servername: lab.example
apacheconfig: Redirect: "/old" "https://lab.example/new
apacheconfig: Header: set X-Build "lab
apacheconfig: LogFormat: "%h "%r" %>s" common
apacheconfig: ServerAdmin: admin@lab.example'
printf 'expected: the values of the file, with or without the quotes around them\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
