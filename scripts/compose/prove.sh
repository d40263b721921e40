#!/bin/sh
# Tests docker-compose.yml without pulling images: creates the base images, builds the images of the master and of workers
# with a mirror of release files, and starts a farm of four workers. Then
#  - the flow baseline scans a service, with the findings in the database;
#  - a job survives the removal of three workers while it runs: every run completes once;
#  - a step searches its worker for secrets and for the files of another workspace, and must not find any;
#  - a worker of infra/docker-compose.worker.yml joins over TLS, as from another machine, and executes a run.
# Requires root on Debian with docker, docker-compose (or the plugin), debootstrap, openssl and python3. Takes some minutes.
#   sh scripts/compose/prove.sh [FOLDER IN WHICH THE BASE IMAGES ARE KEPT]
set -eu
cd "$(dirname "$0")/../.."
WORKERS=4
TARGETS=90
compose() { if docker compose version >/dev/null 2>&1; then docker compose "$@"; else docker-compose "$@"; fi; }
remote() {
  SCANFARM_WORKER_NAME=elsewhere SCANFARM_ARTIFACTS=${SCANFARM_PROOF_ARTIFACTS:-/none} compose -p scanfarm-elsewhere \
    -f "$elsewhere/infra/docker-compose.worker.yml" "$@"
}
compose version

work=$(mktemp -d)
elsewhere=$work/elsewhere
passed=
started=
mirror=
finish() {
  [ -z "$mirror" ] || kill "$mirror"
  if [ -n "$started" ]; then
    [ -n "$passed" ] || compose logs --tail 50
    [ ! -d "$elsewhere" ] || remote down -v
    docker rm -f scanfarm-proof-target >/dev/null 2>&1 || true
    compose down -v
  fi
  rm -rf "$work"
}
trap finish EXIT

images=$(sh scripts/compose/base-images.sh "${1:-}")
for pair in $images; do export "$pair"; done

# The images are built from a copy of the sources whose manifest has the checksums of the release files of the mirror.
context=$work/context
mkdir "$context"
git ls-files -z --cached --others --exclude-standard | tar --null --files-from - -c | tar -C "$context" -x
python3 scripts/compose/release-files.py infra/tools.yaml "$work/mirror" "$context/infra/tools.yaml"
python3 -u -m http.server --bind 127.0.0.1 --directory "$work/mirror" 0 > "$work/mirror.log" 2>&1 &
mirror=$!
until port=$(sed -n 's/.* port \([0-9]*\) .*/\1/p' "$work/mirror.log") && [ -n "$port" ]; do sleep 0.1; done
image() {
  [ -z "${KEEP_IMAGES:-}" ] || return 0
  docker build --network host -f infra/Dockerfile --target "$1" -t "$2" \
    --build-arg "BUILD_IMAGE=$BUILD_IMAGE" --build-arg "BASE_IMAGE=$BASE_IMAGE" \
    --build-arg "TOOLS_MIRROR=http://127.0.0.1:$port" --build-arg VERSION=proof "$context"
}
image tools scanfarm-tools
image scanfarm scanfarm
docker images --format '{{.Repository}} {{.Size}}' | grep '^scanfarm\(-tools\)\? '

# The image has every tool of the manifest, no compiler, and its release files are those of the manifest.
docker run --rm --entrypoint sh scanfarm-tools -ec '
  SCANFARM_FOLDERS_BASE=/opt/scanfarm/tools scanfarm tools verify
  [ "$(id -u)" = 10001 ]
  for program in cc gcc go make; do ! command -v $program || exit 1; done'

export COMPOSE_PROJECT_NAME=scanfarm-proof SCANFARM_PORT="${SCANFARM_PORT:-8055}"
# Workers on other machines connect to this address of the engine's machine.
SCANFARM_BIND=$(hostname -I | cut -d ' ' -f 1)
export SCANFARM_BIND
sh infra/make-secrets.sh "$SCANFARM_BIND"
export COMPOSE_FILE=docker-compose.yml:infra/docker-compose.remote.yml
compose config >/dev/null
started=yes
compose up -d --no-build --scale worker=$WORKERS

# healthy CONTAINER…: waits for the health checks.
healthy() {
  tries=120
  for container in "$@"; do
    until [ "$(docker inspect -f '{{.State.Health.Status}}' "$container")" = healthy ]; do
      tries=$((tries - 1))
      [ "$tries" -gt 0 ] || { docker inspect -f '{{.Name}} {{json .State.Health}}' "$container"; exit 1; }
      sleep 1
    done
  done
}
# shellcheck disable=SC2046 # one word for each container
healthy $(compose ps -q postgres redis master worker)
echo "all $(compose ps -q postgres redis master worker | wc -l) containers are healthy"
docker exec "$(compose ps -q redis)" cat /proc/1/status | grep -q '^Uid:[[:space:]]*0' && { echo "Redis runs as root" >&2; exit 1; }

call() { curl -sf -H "Authorization: Bearer $(cat infra/secrets/admin-token)" "$@"; }
api=http://127.0.0.1:$SCANFARM_PORT/api
# upload < WORKFLOW
upload() {
  workflow=$(mktemp --suffix=.yaml)
  cat > "$workflow"
  call -F "file=@$workflow" "$api/workflow-upload" >/dev/null
  rm "$workflow"
}
# start MODULE TARGETS [FIELDS]: prints the id of the job.
start() {
  call -H 'Content-Type: application/json' -d "{\"module\":\"$1\",\"targets\":[$2],\"run_mode\":\"distributed\"${3:-}}" "$api/runs" |
    sed 's/.*"job_id":"\([^"]*\)".*/\1/'
}
count() { call "$api/jobs/$job" | sed "s/.*\"$1\":\([0-9]*\),.*/\1/"; }
# complete NUMBER: waits until that many runs of the job have completed.
complete() {
  tries=300
  until [ "$(count completed)" -ge "$1" ]; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] && [ "$(count failed)" -eq 0 ] || { call "$api/jobs/$job"; call "$api/runs?job_id=$job"; echo "a run failed, or not all completed" >&2; exit 1; }
    sleep 1
  done
}
# artifact NAME: of the only run of the job.
artifact() {
  run=$(call "$api/runs?job_id=$job" | sed 's/.*"run_uuid":"\([^"]*\)".*/\1/')
  id=$(call "$api/runs/$run/artifacts" | grep -o "{[^{}]*\"name\":\"$1\"[^{}]*}" | sed 's/.*"id":"\([^"]*\)".*/\1/')
  call "$api/runs/$run/artifacts/$id/content"
}

docker run -d --name scanfarm-proof-target --network scanfarm-proof_farm "$BUILD_IMAGE" \
  node -e 'require("http").createServer((request, response) => response.setHeader("Server", "planted/1.0").end("<title>planted</title>")).listen(8080)' >/dev/null
target=$(docker inspect -f '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}' scanfarm-proof-target)
compose exec -T master scanfarm run -f baseline -t "$target" -p ports=22,8080 --wait
compose exec -T master scanfarm findings list > "$work/findings"
grep -q "Content Security Policy" "$work/findings" || { cat "$work/findings"; echo "the flow baseline did not find what is planted" >&2; exit 1; }
call "$api/assets" > "$work/assets"
grep -q "$target:8080" "$work/assets" || { cat "$work/assets"; echo "nmap did not find the port" >&2; exit 1; }
! grep -q "$target:22\"" "$work/assets" || { cat "$work/assets"; echo "nmap found a closed port" >&2; exit 1; }
echo "the shipped flow baseline found:"
cat "$work/findings"

upload <<'WORKFLOW'
kind: module
name: steady
steps:
  - name: work
    type: bash
    command: nmap --version && sleep 2 && hostname
WORKFLOW
job=$(start steady "$(seq -f '"t%g.example"' -s, 1 "$TARGETS")")
until [ "$(count completed)" -ge 6 ]; do sleep 1; done
echo "scaling down to one worker while $(count running) runs are running"
compose up -d --no-build --no-recreate --scale worker=1
complete "$TARGETS"
workers=$(call "$api/runs?limit=$TARGETS" | grep -o '"worker_id":"[^"]*"' | sort -u | wc -l)
[ "$workers" -ge "$WORKERS" ] || { echo "only $workers workers took part" >&2; exit 1; }
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
hoard=$job
until [ "$(count running)" -eq 1 ]; do sleep 1; done
worker=$(compose ps -q worker)
until docker top "$worker" | grep -q 'sleep 600'; do sleep 1; done
job=$(start search '"search.example"')
complete 1
loot=$work/loot
artifact loot > "$loot"
grep -aq own-canary "$loot" || { echo "the step did not find its own canary" >&2; exit 1; }
for secret in postgres-password redis-password admin-token database-url redis-url; do
  ! grep -aqFf "infra/secrets/$secret" "$loot" || { echo "a step can read the secret $secret" >&2; exit 1; }
done
! grep -ao 'hoard-in-[a-z]*\|BREACH.*' "$loot" | sort -u | grep . >&2 || { echo "a step reached what it must not reach" >&2; exit 1; }
echo "a step searched its worker and stored $(wc -c < "$loot") bytes: no secret and nothing of another workspace"
call -X POST "$api/jobs/$hoard/cancel" >/dev/null || true

# This worker belongs to another compose project: it reaches Postgres and Redis only at the address of the machine.
mkdir -p "$elsewhere/infra/secrets"
cp infra/docker-compose.worker.yml "$elsewhere/infra/"
cp infra/scanfarm.yaml "$elsewhere/infra/"
cp infra/secrets/remote/* "$elsewhere/infra/secrets/"
SCANFARM_PROOF_ARTIFACTS=$(docker volume inspect -f '{{.Mountpoint}}' scanfarm-proof_artifacts)
compose stop worker
remote up -d --no-build
healthy "$(remote ps -q worker)"
upload <<'WORKFLOW'
kind: module
name: there
dependencies: { commands: [nmap] }
steps:
  - name: work
    type: bash
    command: nmap --version > {{Output}}/version
reports:
  - { name: version, path: '{{Output}}/version', type: text }
WORKFLOW
job=$(start there '"t.example"')
complete 1
artifact version > "$work/version"
grep -q '^Nmap version' "$work/version" || { cat "$work/version"; echo "the run did not execute nmap" >&2; exit 1; }
worker=$(call "$api/runs?job_id=$job" | sed 's/.*"worker_id":"\([^"]*\)".*/\1/')
call "$api/workers/$worker" | grep -q '"name":"elsewhere"' || { echo "another worker executed the run" >&2; exit 1; }
remote exec -T worker cat /run/scanfarm/database-url | grep -q '//scan_workers:.*sslmode=verify-full'
remote exec -T worker cat /run/scanfarm/redis-url | grep -q '^rediss://'
echo "a worker of infra/docker-compose.worker.yml joined over TLS and completed a run"
passed=yes
