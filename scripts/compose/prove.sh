#!/bin/sh
# Tests docker-compose.yml without pulling images: creates the base images, builds, starts a farm of three workers with
# scanners, runs a job on them, scales down to one worker during the job, and checks that every run completed once. Then
# a step searches its worker for secrets and for the files of another workspace, and must not find any.
# Requires root on Debian with docker, docker-compose (or the plugin) and debootstrap. Takes some minutes.
#   sh scripts/compose/prove.sh [FOLDER IN WHICH THE BASE IMAGES ARE KEPT]
set -eu
cd "$(dirname "$0")/../.."
TARGETS=90
compose() { if docker compose version >/dev/null 2>&1; then docker compose "$@"; else docker-compose "$@"; fi; }
compose version
compose config >/dev/null

images=$(sh scripts/compose/base-images.sh "${1:-}")
for pair in $images; do export "$pair"; done
image() {
  [ -z "${KEEP_IMAGES:-}" ] || return 0
  docker build --network host -f infra/Dockerfile --target "$1" -t "$2" \
    --build-arg "BUILD_IMAGE=$BUILD_IMAGE" --build-arg "BASE_IMAGE=$BASE_IMAGE" .
}
image scanfarm scanfarm
image tools scanfarm-tools
export COMPOSE_PROJECT_NAME=scanfarm-proof SCANFARM_PORT="${SCANFARM_PORT:-8055}"
sh infra/make-secrets.sh
passed=
loot=$(mktemp)
trap '[ -n "$passed" ] || compose logs --tail 50; compose down -v; rm -f "$loot"' EXIT
compose up -d --no-build --scale worker=3
# Twelve attempts, five seconds each, after the start period.
tries=90
for container in $(compose ps -q); do
  until [ "$(docker inspect -f '{{.State.Health.Status}}' "$container")" = healthy ]; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || { docker inspect -f '{{.Name}} {{json .State.Health}}' "$container"; exit 1; }
    sleep 1
  done
done
echo "all $(compose ps -q | wc -l) containers are healthy"

call() { curl -sf -H "Authorization: Bearer $(cat infra/secrets/admin-token)" "$@"; }
api=http://127.0.0.1:$SCANFARM_PORT/api
# upload < WORKFLOW
upload() {
  workflow=$(mktemp --suffix=.yaml)
  cat > "$workflow"
  call -F "file=@$workflow" "$api/workflow-upload" >/dev/null
  rm "$workflow"
}
# start MODULE TARGETS: prints the id of the job.
start() {
  call -H 'Content-Type: application/json' -d "{\"module\":\"$1\",\"targets\":[$2],\"run_mode\":\"distributed\"}" "$api/runs" |
    sed 's/.*"job_id":"\([^"]*\)".*/\1/'
}
upload <<'WORKFLOW'
kind: module
name: steady
steps:
  - name: work
    type: bash
    command: nmap --version && sleep 2 && hostname
WORKFLOW
job=$(start steady "$(seq -f '"t%g.example"' -s, 1 "$TARGETS")")
count() { call "$api/jobs/$job" | sed "s/.*\"$1\":\([0-9]*\),.*/\1/"; }

until [ "$(count completed)" -ge 6 ]; do sleep 1; done
echo "scaling down to one worker while $(count running) runs are running"
compose up -d --no-build --no-recreate --scale worker=1
tries=300
until [ "$(count completed)" -eq "$TARGETS" ]; do
  tries=$((tries - 1))
  [ "$tries" -gt 0 ] || { call "$api/jobs/$job"; echo "not all runs completed" >&2; exit 1; }
  sleep 1
done
workers=$(call "$api/runs?limit=$TARGETS" | grep -o '"worker_id":"[^"]*"' | sort -u | wc -l)
[ "$workers" -ge 3 ] || { echo "only $workers workers took part" >&2; exit 1; }
echo "$TARGETS of $TARGETS runs completed on $workers workers, $(count failed) failed"

# The result of a step on the remaining worker is stored as an artifact.
upload <<'WORKFLOW'
kind: module
name: hoard
steps:
  - name: keep
    type: bash
    command: echo hoard-in-file > {{Output}}/up && chmod 666 {{Output}}/up && HOARD=hoard-in-environment sleep 600
WORKFLOW
{
  printf 'kind: module\nname: search\nsteps:\n  - name: search\n    type: bash\n    command: |\n'
  printf '      OWN=own-canary sh -s hoard.example > {{Output}}/loot 2>/dev/null <<"END" || true\n'
  printf '      cat /proc/$$/environ\n'
  sed 's/^/      /' scripts/compose/search.sh
  printf '      END\nreports:\n  - { name: loot, path: "{{Output}}/loot", type: text }\n'
} | upload
job=$(start hoard '"hoard.example"')
until [ "$(count running)" -eq 1 ]; do sleep 1; done
worker=$(compose ps -q worker)
until docker top "$worker" | grep -q 'sleep 600'; do sleep 1; done
job=$(start search '"search.example"')
until [ "$(count completed)" -eq 1 ]; do
  [ "$(count failed)" -eq 0 ] || { echo "the search failed" >&2; exit 1; }
  sleep 1
done
run=$(call "$api/runs?job_id=$job" | sed 's/.*"run_uuid":"\([^"]*\)".*/\1/')
artifact=$(call "$api/runs/$run/artifacts" | grep -o '{[^{}]*"name":"loot"[^{}]*}' | sed 's/.*"id":"\([^"]*\)".*/\1/')
call "$api/runs/$run/artifacts/$artifact/content" > "$loot"
grep -aq own-canary "$loot" || { echo "the step did not find its own canary" >&2; exit 1; }
for file in infra/secrets/*; do
  ! grep -aqFf "$file" "$loot" || { echo "a step can read the secret ${file##*/}" >&2; exit 1; }
done
! grep -ao 'hoard-in-[a-z]*\|BREACH.*' "$loot" | sort -u | grep . >&2 || { echo "a step reached what it must not reach" >&2; exit 1; }
echo "a step searched its worker and stored $(wc -c < "$loot") bytes: no secret and nothing of another workspace"
passed=yes
