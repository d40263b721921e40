#!/usr/bin/env bash
# CVSS 4.0 gives each vector one score, and libraries are written after one reference. One would guess that their scores are equal.
# @pandatix/js-cvss is a tenth lower than ae-cvss-calculator (npm) and cvss (PyPI) for about 3 of 1,000 valid vectors, also for some with base metrics only: 5.6 and 5.7.
# A store that takes scores from two sources shows a change of severity where nothing changed, whenever a limit lies between the two.
# Seen with @pandatix/js-cvss 0.4.4, ae-cvss-calculator 1.0.13 and cvss 3.6.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
npm install --silent --no-audit --no-fund --prefix "$work" @pandatix/js-cvss@0.4.4 ae-cvss-calculator@1.0.13 esbuild@0.28.2
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check cvss==3.6
cat > "$work/vectors.txt" <<'TXT'
CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:A/VC:L/VI:L/VA:L/SC:L/SI:N/SA:L
CVSS:4.0/AV:L/AC:H/AT:P/PR:H/UI:N/VC:L/VI:N/VA:H/SC:N/SI:L/SA:N
CVSS:4.0/AV:N/AC:L/AT:P/PR:H/UI:A/VC:N/VI:L/VA:H/SC:N/SI:N/SA:L
CVSS:4.0/AV:N/AC:L/AT:N/PR:H/UI:A/VC:H/VI:L/VA:H/SC:L/SI:L/SA:L/E:P/IR:M/AR:L/MAV:L/MAT:P/MPR:H/MUI:A/MVC:L/MSC:N
TXT
cat > "$work/scores.js" <<'JS'
import { readFileSync } from 'node:fs'
import { CVSS40 } from '@pandatix/js-cvss'
import * as calculator from 'ae-cvss-calculator'

for (const vector of readFileSync('vectors.txt', 'utf8').trim().split('\n'))
  console.log(new CVSS40(vector).Score(), new calculator.Cvss4P0(vector).calculateScores().overall)
JS
cd "$work"
# js-cvss has imports without file names, which Node does not resolve; a bundler does.
node_modules/.bin/esbuild scores.js --bundle --platform=node --outfile=scores.cjs --log-level=error
seen=$(paste -d ' ' <(node scores.cjs) <(venv/bin/python -c 'from cvss import CVSS4; [print(CVSS4(line.strip()).scores()[0]) for line in open("vectors.txt")]'))
expected='5.1 5.1 5.1
5.6 5.7 5.7
5.6 5.7 5.7
0.6 0.7 0.7'
printf '@pandatix/js-cvss 0.4.4, ae-cvss-calculator 1.0.13, cvss 3.6\nexpected: three equal scores a line\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
