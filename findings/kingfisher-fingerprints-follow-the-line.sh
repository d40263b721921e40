#!/usr/bin/env bash
# SARIF has fingerprints so that a result is known again when its file changes elsewhere. One would guess that kingfisher gives each leaked key one that stays.
# Its fingerprint is new after a line was added on top of the file, so that an accepted key is an open one again.
# And it is the same for a key in three commits, each of which has to be rewritten: readers that join results by fingerprints show one.
# Seen with kingfisher 2.14.0 (kingfisher-bin).
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work GIT_CONFIG_NOSYSTEM=1
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check kingfisher-bin==2.14.0

fingerprints() {
  "$work/venv/bin/kingfisher" scan "$1" --no-validate --no-update-check --no-dedup --format sarif -o "$work/report" > "$work/log" 2>&1 || true
  jq -r '.runs[].results[] | [.partialFingerprints.fingerprint, .locations[0].properties.git_metadata.commit.id // ""] | @tsv' "$work/report"
}
# Looks like a key, but is none.
key="token = ghp_$(printf 'x7Rk2Vq9Lm4Tn8Zp%.0s' 1 2 3 | cut -c 1-36)"
mkdir "$work/before" "$work/after"
printf '%s\n' "$key" > "$work/before/a.ini"
printf '; a comment\n%s\n' "$key" > "$work/after/a.ini"
same=different
[[ $(fingerprints "$work/before") == $(fingerprints "$work/after") ]] && same=equal

git init --quiet --initial-branch main "$work/commits"
cd "$work/commits"
for number in 1 2 3; do
  printf '; %s\n%s\n' "$number" "$key" > a.ini
  git add a.ini
  git -c user.name=lab -c user.email=lab@example.test commit --quiet --message "$number"
done
fingerprints . | awk '$2 != ""' > "$work/commits.tsv"
seen="a line on top: $same fingerprints
one key in $(cut -f 2 "$work/commits.tsv" | sort -u | wc -l) commits: $(cut -f 1 "$work/commits.tsv" | sort -u | wc -l) fingerprint"
expected='a line on top: different fingerprints
one key in 3 commits: 1 fingerprint'
printf 'kingfisher 2.14.0\nexpected: equal fingerprints, and one for each commit\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
