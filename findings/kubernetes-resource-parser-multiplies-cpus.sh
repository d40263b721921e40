#!/usr/bin/env bash
# Kubernetes writes amounts as quantities: 129e6, 1.5Gi, 100m; the servers of metrics write CPUs in billionths, as 2500000n ("Quantity" in the reference of its API: suffixes n, u, m, k to E and Ki to Ei, and decimal exponents).
# One would guess that a library for them returns the number. The page "Resource Management for Pods and Containers" calls 128974848, 129e6, 129M, 128974848000m and 123Mi roughly the same.
# kubernetes-resource-parser (npm) returns 2500000 CPUs for 2500000n, which is 0.0025. Memory of 129e6 is 129 bytes, 0.5Gi is 0, 1.5Gi is 1, and 128974848000m is no number.
# There is no error. A report of pods without a sensible limit, or of their use, has numbers that are off by a factor of a thousand million.
# kubernetes (PyPI) returns the numbers.
# Seen with kubernetes-resource-parser 0.1.0 and kubernetes 37.0.2.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" kubernetes-resource-parser@0.1.0
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check kubernetes==37.0.2
cpus=(2500000n 250u 100m 0.5)
memory=(129e6 129M 123Mi 1.5Gi 0.5Gi 128974848000m)
cat > read.cjs <<'JS'
const { cpuParser, memoryParser } = require('kubernetes-resource-parser')

const [cpus, memory] = process.argv.slice(2).map((list) => list.split(' '))
console.log('kubernetes-resource-parser:', ...cpus.map((text) => `${text}=${cpuParser(text)}`))
console.log('kubernetes-resource-parser:', ...memory.map((text) => `${text}=${memoryParser(text)}`))
JS
cat > read.py <<'PY'
import sys

from kubernetes.utils import parse_quantity

for texts in sys.argv[1:]:
    print('kubernetes:', *(f'{text}={float(parse_quantity(text)):g}' for text in texts.split()))
PY
seen=$(node read.cjs "${cpus[*]}" "${memory[*]}" && venv/bin/python read.py "${cpus[*]}" "${memory[*]}")
expected='kubernetes-resource-parser: 2500000n=2500000 250u=250 100m=0.1 0.5=0.5
kubernetes-resource-parser: 129e6=129 129M=129000000 123Mi=128974848 1.5Gi=1 0.5Gi=0 128974848000m=NaN
kubernetes: 2500000n=0.0025 250u=0.00025 100m=0.1 0.5=0.5
kubernetes: 129e6=1.29e+08 129M=1.29e+08 123Mi=1.28975e+08 1.5Gi=1.61061e+09 0.5Gi=5.36871e+08 128974848000m=1.28975e+08'
printf 'expected: the numbers of kubernetes\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
