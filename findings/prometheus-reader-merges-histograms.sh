#!/usr/bin/env bash
# Exporters describe probes and services in the text format of Prometheus. A histogram or summary has a series of buckets, a sum and a count for each set of its other labels, and blanks may stand between all tokens ("Exposition formats": "Line format", "Histograms and summaries").
# One would guess that a library for the format returns each of them, as prometheus-client (PyPI) does.
# parse-prometheus-text-format (npm) returns one histogram for all sets of labels: the last value of each bucket, without labels, sum and count. The probes of host a are gone, those of host b belong to no host. A summary is one, too.
# There is no error; a histogram without labels is whole, and so are gauges and counters. A blank behind the comma between two labels, however, ends the reading of all metrics with an error.
# Seen with parse-prometheus-text-format 1.1.1 and prometheus-client 0.26.0.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" parse-prometheus-text-format@1.1.1
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check prometheus-client==0.26.0
cat > metrics.txt <<'TXT'
# TYPE probe_seconds histogram
probe_seconds_bucket{host="a",le="1"} 8
probe_seconds_bucket{host="a",le="+Inf"} 9
probe_seconds_sum{host="a"} 5
probe_seconds_count{host="a"} 9
probe_seconds_bucket{host="b",le="1"} 0
probe_seconds_bucket{host="b",le="+Inf"} 4
probe_seconds_sum{host="b"} 40
probe_seconds_count{host="b"} 4
TXT
cat > read.cjs <<'JS'
const { readFileSync } = require('node:fs')
const module_ = require('parse-prometheus-text-format')

const parse = module_.default ?? module_
for (const { name, metrics } of parse(readFileSync('metrics.txt', 'utf8'))) console.log('parse-prometheus-text-format:', name, JSON.stringify(metrics))
try {
  parse('up{host="a", port="1"} 1\n')
} catch (error) {
  console.log('parse-prometheus-text-format:', error.message)
}
JS
cat > read.py <<'PY'
from prometheus_client.parser import text_string_to_metric_families

for family in text_string_to_metric_families(open('metrics.txt').read() + 'up{host="a", port="1"} 1\n'):
    for sample in family.samples:
        print('prometheus-client:', sample.name, *(f'{key}={value}' for key, value in sample.labels.items()), sample.value)
PY
seen=$(node read.cjs && venv/bin/python read.py)
expected='parse-prometheus-text-format: probe_seconds [{"buckets":{"1":"0","+Inf":"4"}}]
parse-prometheus-text-format: Encountered invalid line: up{host="a", port="1"} 1
prometheus-client: probe_seconds_bucket host=a le=1 8
prometheus-client: probe_seconds_bucket host=a le=+Inf 9
prometheus-client: probe_seconds_sum host=a 5
prometheus-client: probe_seconds_count host=a 9
prometheus-client: probe_seconds_bucket host=b le=1 0
prometheus-client: probe_seconds_bucket host=b le=+Inf 4
prometheus-client: probe_seconds_sum host=b 40
prometheus-client: probe_seconds_count host=b 4
prometheus-client: up host=a port=1 1'
printf 'expected: two histograms from each\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
