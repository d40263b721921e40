#!/usr/bin/env bash
# The Public Suffix List tells which part of a name an owner has registered. It is written in Unicode, DNS carries names in ASCII (xn--), and the list's page "Format" has both the rules and the name brought to one form before they are compared.
# One would guess that libraries for the list find the same domain in both forms of a name.
# publicsuffix2 (PyPI) compares with ASCII rules, so names in Unicode have the suffix of their last label: two owners below 公司.cn become the one domain 公司.cn. Its PublicSuffixList(idna=False) exchanges the fault for the opposite one.
# tld (PyPI) compares with Unicode rules, and does the same to names in ASCII: two owners become xn--55qx5d.cn.
# There is no error. An inventory joins hosts of several owners in one domain, and a scope made of it contains them all.
# publicsuffixlist, tldextract (PyPI), psl and tldts (npm) read both forms alike.
# Seen with publicsuffix2 2.20191221, tld 0.13.2, publicsuffixlist 1.1.2.20261023, tldextract 5.4.0, psl 1.15.0 and tldts 7.6.0.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" psl@1.15.0 tldts@7.6.0
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check publicsuffix2==2.20191221 tld==0.13.2 publicsuffixlist==1.1.2.20261023 tldextract==5.4.0
cat > names.txt <<'TXT'
www.one.公司.cn
www.two.公司.cn
www.one.xn--55qx5d.cn
www.two.xn--55qx5d.cn
TXT
cat > read.cjs <<'JS'
const { readFileSync } = require('node:fs')
const psl = require('psl')
const tldts = require('tldts')

const names = readFileSync('names.txt', 'utf8').trim().split('\n')
console.log('psl:', ...names.map((name) => psl.get(name)))
console.log('tldts:', ...names.map((name) => tldts.getDomain(name)))
JS
cat > read.py <<'PY'
import publicsuffix2
import tld
import tldextract
from publicsuffixlist import PublicSuffixList

names = open('names.txt', encoding='utf-8').read().split()
print('publicsuffixlist:', *map(PublicSuffixList().privatesuffix, names))
extract = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)
print('tldextract:', *(extract(name).top_domain_under_public_suffix for name in names))
print('publicsuffix2:', *map(publicsuffix2.get_sld, names))
print('publicsuffix2, idna=False:', *map(publicsuffix2.PublicSuffixList(idna=False).get_sld, names))
print('tld:', *(tld.get_fld(f'https://{name}/') for name in names))
PY
seen=$(node read.cjs && PYTHONUTF8=1 venv/bin/python read.py)
expected='psl: one.公司.cn two.公司.cn one.xn--55qx5d.cn two.xn--55qx5d.cn
tldts: one.公司.cn two.公司.cn one.xn--55qx5d.cn two.xn--55qx5d.cn
publicsuffixlist: one.公司.cn two.公司.cn one.xn--55qx5d.cn two.xn--55qx5d.cn
tldextract: one.公司.cn two.公司.cn one.xn--55qx5d.cn two.xn--55qx5d.cn
publicsuffix2: 公司.cn 公司.cn one.xn--55qx5d.cn two.xn--55qx5d.cn
publicsuffix2, idna=False: one.公司.cn two.公司.cn xn--55qx5d.cn xn--55qx5d.cn
tld: one.公司.cn two.公司.cn xn--55qx5d.cn xn--55qx5d.cn'
printf 'expected: four domains from each\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
