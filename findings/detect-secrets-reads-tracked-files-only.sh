#!/usr/bin/env bash
# "detect-secrets scan FOLDER" reads like "look at the files of this folder". One would guess that it does so wherever the folder is.
# It asks git for the list of files. New files that are not added yet are left out, and a folder outside a repository has none, for example an unpacked backup.
# A file that is named is read in any place. The report of an empty list is that of a folder without secrets, and the exit code is 0; --all-files looks at all.
# Seen with detect-secrets 1.5.0.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check detect-secrets==1.5.0
mkdir plain
# The value has the form of a key and was made up.
echo 'aws_key = "AKIA''QWERTYUIOP234567"' > plain/settings.py
cp -r plain repository
git -C repository init --quiet

scan() {
  local code=0
  venv/bin/detect-secrets scan "$@" > report 2> errors || code=$?
  echo "code $code, files with secrets $(jq '.results | length' report)"
}
scan_in_repository() {
  (cd repository && ../venv/bin/detect-secrets scan . | jq -r '"files with secrets \(.results | length)"')
}
seen="folder: $(scan plain)
folder, --all-files: $(scan --all-files plain)
file: $(scan plain/settings.py)
new file in a repository: $(scan_in_repository)
added file in a repository: $(git -C repository add . && scan_in_repository)"
expected='folder: code 0, files with secrets 0
folder, --all-files: code 0, files with secrets 1
file: code 0, files with secrets 1
new file in a repository: files with secrets 0
added file in a repository: files with secrets 1'
printf 'detect-secrets 1.5.0\nexpected: one file in each\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
