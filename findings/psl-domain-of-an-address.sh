#!/usr/bin/env bash
# Tools that group hosts by owner ask a library of the public suffix list for the registered domain of each host. One would guess that an IPv4 address has none.
# psl (npm) and publicsuffixlist (PyPI) treat the dots of an address as dots of a name: the domain of 192.168.1.1 is "1.1".
# So 192.168.1.1 and 10.20.1.1 belong to one site, and a filter by domain mixes unrelated hosts.
# tldts (npm) answers null, and tldextract (PyPI) an empty text.
# Seen with psl 1.15.0, tldts 7.6.0, publicsuffixlist 1.1.2.20261023 and tldextract 5.4.0.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check publicsuffixlist==1.1.2.20261023 tldextract==5.4.0
npm install --silent --no-audit --no-fund --prefix "$work" psl@1.15.0 tldts@7.6.0

cd "$work"
seen=$(
  node - <<'JS'
const psl = require('psl')
const tldts = require('tldts')
for (const host of ['192.168.1.1', '10.20.1.1'])
  console.log(`${host} psl ${psl.get(host)} tldts ${tldts.getDomain(host)}`)
JS
  venv/bin/python - <<'PY'
import publicsuffixlist
import tldextract

extract = tldextract.TLDExtract(cache_dir=None, suffix_list_urls=())
for host in ('192.168.1.1', '10.20.1.1'):
    print(host, 'publicsuffixlist', publicsuffixlist.PublicSuffixList().privatesuffix(host), 'tldextract', repr(extract(host).top_domain_under_public_suffix))
PY
)
expected="192.168.1.1 psl 1.1 tldts null
10.20.1.1 psl 1.1 tldts null
192.168.1.1 publicsuffixlist 1.1 tldextract ''
10.20.1.1 publicsuffixlist 1.1 tldextract ''"
printf 'expected: an address has no registered domain\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
