#!/usr/bin/env bash
# `kubectl get -o yaml` writes several resources as one of kind List, and kubectl applies such a file.
# One would guess that kubernetes-validate checks the items, as it checks each document of a file.
# It warns that it has no schema for List and ends with 0: the type of replicas is not checked, nor an unknown field with --strict. With --no-warn there is no word.
# A check of exported manifests succeeds whatever they hold, and its log looks like that of a good file. Write each item as a document of its own, for example by jq.
# Seen with kubernetes-validate 1.33.1.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check kubernetes-validate==1.33.1
item='{"apiVersion":"v1","kind":"Service","metadata":{"name":"lab"},"spec":{"ports":[{"port":"eighty"}],"sessionAfinity":"None"}}'
echo "$item" > item.json
echo "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[$item]}" > list.json
jq '.items[]' list.json > parts.json
seen=$(
  for file in item.json list.json parts.json; do
    code=0
    venv/bin/kubernetes-validate --strict --no-warn "$file" > answer 2>&1 || code=$?
    echo "$file: code $code, $(grep -c 'not of type' answer) wrong types"
  done
)
expected='item.json: code 1, 1 wrong types
list.json: code 0, 0 wrong types
parts.json: code 1, 1 wrong types'
printf 'expected: code 1 and a wrong type for each\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
