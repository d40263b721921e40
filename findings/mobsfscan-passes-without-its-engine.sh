#!/usr/bin/env bash
# mobsfscan runs semgrep for its rules about Java, Kotlin and Swift, and finds it on PATH. Installed with pipx, or called as venv/bin/mobsfscan, it does not.
# A scanner whose engine is missing should fail. mobsfscan writes a SARIF report with executionSuccessful true and exits with 0.
# The report only lacks the weaknesses of the code; the practices that mobsfscan misses in every app are there, so that it looks like a report of a better app.
# Only its JSON names the reason, in a list of errors. njsscan, which shares the library, says executionSuccessful false.
# Imported, such a report closes all weaknesses that the scan before found.
# Seen with mobsfscan 1.1.0 and njsscan 1.0.2.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check mobsfscan==1.1.0 njsscan==1.0.2
mkdir java js
cat > java/A.java <<'JAVA'
package a;

import javax.crypto.Cipher;

public class A {
  Cipher cipher() throws Exception {
    return Cipher.getInstance("DES/ECB/PKCS5Padding");
  }
}
JAVA
cat > js/a.js <<'JS'
const app = require('express')()
app.get('/', (request, response) => eval(request.query.x))
JS

# $1: what is on PATH besides the system, $2: program, $3: folder, $4: a rule that is right about it
scan() {
  local code=0
  PATH="$1/usr/bin:/bin" timeout 200 "venv/bin/$2" --sarif --output report.sarif "$3" > log 2>&1 || code=$?
  jq -r --arg rule "$4" --arg code "$code" '.runs[0] | "code \($code), successful \(.invocations[0].executionSuccessful), \($rule): \(any(.results[]; .ruleId == $rule))"' report.sarif
}
seen="mobsfscan with semgrep: $(scan "$work/venv/bin:" mobsfscan java weak_cipher)
mobsfscan without it: $(scan '' mobsfscan java weak_cipher)
njsscan with semgrep: $(scan "$work/venv/bin:" njsscan js eval_nodejs)
njsscan without it: $(scan '' njsscan js eval_nodejs)"
expected='mobsfscan with semgrep: code 1, successful true, weak_cipher: true
mobsfscan without it: code 0, successful true, weak_cipher: false
njsscan with semgrep: code 1, successful true, eval_nodejs: true
njsscan without it: code 1, successful false, eval_nodejs: false'
printf 'mobsfscan 1.1.0, njsscan 1.0.2\nexpected: without semgrep none is successful\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
