#!/usr/bin/env bash
# A request that Burp Suite has shown is saved as text and repeated by a script. In HTTP/2 cookies "MAY be split into separate header fields", which must be joined by "; " when they leave it (RFC 7540, section 8.1.2.5). The parts of a form with files stand between lines that end with carriage return and line feed (RFC 2046, section 5.1.1), and a body of bytes may have either.
# One would guess that burpr (PyPI), "a Burp Suite request parser", returns all cookies and the body as it was, as its requests are made with them.
# It keeps the last of the lines with one name: of the session and a token in two Cookie lines the session is gone. It removes each carriage return of the body, and keeps the Content-Length of the body that was longer.
# There is no error. The request is sent without its session, so a finding is not seen again, and the form has lost the ends of lines that the RFC wants.
# Cookies in one line are kept.
# Seen with burpr 0.3.0.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check burpr==0.3.0
cat > read.py <<'PY'
import burpr

body = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--b--\r\n'
form = f'POST / HTTP/1.1\r\nHost: example.com\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: {len(body)}\r\n\r\n{body}'
for title, text in {
    'one line': 'GET / HTTP/2\r\nHost: example.com\r\nCookie: session=1; token=2\r\n\r\n',
    'two lines': 'GET / HTTP/2\r\nHost: example.com\r\nCookie: session=1\r\nCookie: token=2\r\n\r\n',
}.items():
    print(f'{title}:', burpr.parse_string(text).headers['Cookie'])
read = burpr.parse_string(form)
print('sent:', len(body), 'bytes,', body.count('\r'), 'carriage returns')
print('read:', len(read.body), 'bytes,', read.body.count('\r'), 'carriage returns, Content-Length', read.headers['Content-Length'])
PY
seen=$(venv/bin/python read.py)
expected='one line: session=1; token=2
two lines: token=2
sent: 59 bytes, 5 carriage returns
read: 54 bytes, 0 carriage returns, Content-Length 59'
printf 'expected: both cookies each time, and the body as it was sent\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
