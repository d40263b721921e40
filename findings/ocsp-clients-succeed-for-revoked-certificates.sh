#!/usr/bin/env bash
# "openssl ocsp" and "ocsptool" of GnuTLS ask a certificate authority whether a certificate was revoked. One would guess that their exit code tells, as that of "openssl verify" does.
# Both end with 0 for a good and for a revoked certificate; only their text differs. They fail when there is no answer, so a test with a server that is down seems to show that the exit code works.
# A monitor that trusts the exit code never reports a revocation.
# Seen with OpenSSL 3.0 and gnutls-bin 3.7.9 (Debian 12), against the responder of OpenSSL on loopback.
set -euo pipefail
found=$(dpkg-query -W -f '${Version}' gnutls-bin 2> /dev/null || true)
[[ "$found" == 3.7.9* ]] || { echo "needs the Debian package gnutls-bin 3.7.9, found ${found:-none}" >&2; exit 2; }
[[ $(openssl version) == 'OpenSSL 3.0.'* ]] || { echo "needs OpenSSL 3.0, found $(openssl version)" >&2; exit 2; }
work=$(mktemp -d)
server=
trap '[[ -z "$server" ]] || kill "$server"; rm -rf "$work"' EXIT
cd "$work"
openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -subj /CN=authority -days 30 2> /dev/null
openssl req -newkey rsa:2048 -nodes -keyout server.key -out server.csr -subj /CN=server 2> /dev/null
for serial in 1000 1001; do openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -set_serial "0x$serial" -out "$serial.pem" -days 10 2> /dev/null; done
printf 'V\t991231000000Z\t\t1000\tunknown\t/CN=server\nR\t991231000000Z\t260101000000Z,keyCompromise\t1001\tunknown\t/CN=server\n' > index.txt
port=$(python3 -c 'import socket; listener = socket.create_server(("127.0.0.1", 0)); print(listener.getsockname()[1])')
openssl ocsp -index index.txt -port "$port" -rsigner ca.pem -rkey ca.key -CA ca.pem > server.log 2>&1 &
server=$!
until grep -q -i waiting server.log; do kill -0 "$server" 2> /dev/null || { cat server.log >&2; exit 2; }; sleep 0.1; done

seen=$(
  for serial in 1000 1001; do
    code=0
    openssl ocsp -issuer ca.pem -cert "$serial.pem" -url "http://127.0.0.1:$port" -CAfile ca.pem > out 2>&1 || code=$?
    echo "openssl $(sed -n "s/^$serial.pem: //p" out), exit code $code"
    code=0
    ocsptool --ask="http://127.0.0.1:$port" --load-issuer ca.pem --load-cert "$serial.pem" --load-signer ca.pem > out 2>&1 < /dev/null || code=$?
    echo "ocsptool $(sed -n 's/.*Certificate Status: //p' out), exit code $code"
  done
)
expected='openssl good, exit code 0
ocsptool good, exit code 0
openssl revoked, exit code 0
ocsptool revoked, exit code 0'
printf '%s, ocsptool 3.7.9\nexpected: another exit code for the revoked certificate\nseen:\n%s\n' "$(openssl version)" "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
