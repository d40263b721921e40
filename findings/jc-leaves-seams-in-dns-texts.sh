#!/usr/bin/env bash
# A TXT record of DNS is one or several strings of 255 bytes at most; those who read SPF join them without a blank (RFC 7208, section 3.3). dig prints each in quotes, with \" for a quote in it (RFC 1035, section 5.1).
# One would guess that the data which jc makes of dig's answer is the text.
# jc removes the first and the last quote, and leaves the seam: an address that goes on in the second string becomes ip4:192" ".0.2.1. Quotes in a text keep their backslash.
# A report then calls long SPF and DKIM records invalid; short ones are right, so the fault shows late.
# Join the text at `" "` and remove the backslashes.
# Seen with jc 1.26.1.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check jc==1.26.1
cat > answer.txt <<'TXT'

; <<>> DiG 9.18.28-1~deb12u2-Debian <<>> example.com TXT
;; global options: +cmd
;; Got answer:
;; ->>HEADER<<- opcode: QUERY, status: NOERROR, id: 1
;; flags: qr rd ra; QUERY: 1, ANSWER: 3, AUTHORITY: 0, ADDITIONAL: 1

;; OPT PSEUDOSECTION:
; EDNS: version: 0, flags:; udp: 1232
;; QUESTION SECTION:
;example.com.			IN	TXT

;; ANSWER SECTION:
example.com.		300	IN	TXT	"v=spf1 ip4:192.0.2.1 -all"
example.com.		300	IN	TXT	"v=spf1 include:one.example ip4:192" ".0.2.1 -all"
example.com.		300	IN	TXT	"note=\"x\""

;; Query time: 1 msec
;; SERVER: 127.0.0.1#53(127.0.0.1) (UDP)
;; WHEN: Sun Nov 29 08:00:00 UTC 2026
;; MSG SIZE  rcvd: 160

TXT
seen=$(venv/bin/jc --dig < answer.txt | jq -r '.[0].answer[].data')
expected='v=spf1 ip4:192.0.2.1 -all
v=spf1 include:one.example ip4:192" ".0.2.1 -all
note=\"x\"'
printf 'input:\n%s\nexpected: the texts joined, without quotes around and backslashes\nseen:\n%s\n' "$(grep ^example answer.txt)" "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
