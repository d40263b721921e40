#!/bin/sh
# Proves docker-compose.yml where no image can be pulled: makes the base images, builds, brings a farm of three workers
# with scanners up, runs a job over them, scales down to one in the middle, and checks that every run completed once.
# Needs root on Debian with docker, docker-compose (or the plugin) and debootstrap. Takes some minutes.
#   sh scripts/compose/prove.sh [FOLDER THAT KEEPS THE BASE IMAGES]
set -eu
cd "$(dirname "$0")/../.."
TARGETS=90
compose() { if docker compose version >/dev/null 2>&1; then docker compose "$@"; else docker-compose "$@"; fi; }
compose version
compose config >/dev/null

images=$(sh scripts/compose/base-images.sh "${1:-}")
for pair in $images; do export "$pair"; done
image() {
  docker build --network host -f infra/Dockerfile --target "$1" -t "$2" \
    --build-arg "BUILD_IMAGE=$BUILD_IMAGE" --build-arg "BASE_IMAGE=$BASE_IMAGE" .
}
image scanfarm scanfarm
image tools scanfarm-tools
export COMPOSE_PROJECT_NAME=scanfarm-proof SCANFARM_PORT="${SCANFARM_PORT:-8055}"
sh infra/make-secrets.sh
passed=
trap '[ -n "$passed" ] || compose logs --tail 50; compose down -v' EXIT
compose up -d --no-build --scale worker=3

call() { curl -sf -H "Authorization: Bearer $(cat infra/secrets/admin-token)" "$@"; }
api=http://127.0.0.1:$SCANFARM_PORT/api
workflow=$(mktemp --suffix=.yaml)
printf 'kind: module\nname: steady\nsteps:\n  - name: work\n    type: bash\n    command: nmap --version && sleep 2 && hostname\n' > "$workflow"
call -F "file=@$workflow" "$api/workflow-upload" >/dev/null
rm "$workflow"
targets=$(seq -f '"t%g.example"' -s, 1 "$TARGETS")
job=$(call -H 'Content-Type: application/json' -d "{\"module\":\"steady\",\"targets\":[$targets],\"run_mode\":\"distributed\"}" "$api/runs" |
  sed 's/.*"job_id":"\([^"]*\)".*/\1/')
count() { call "$api/jobs/$job" | sed "s/.*\"$1\":\([0-9]*\),.*/\1/"; }

until [ "$(count completed)" -ge 6 ]; do sleep 1; done
echo "scaling down to one worker with $(count running) runs under way"
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
passed=yes
