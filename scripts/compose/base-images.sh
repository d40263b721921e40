#!/bin/sh
# Creates substitutes for the base images of infra/Dockerfile and docker-compose.yml without a registry: a Debian from
# debootstrap, with the packages of each image. For testing the compose file on a machine that cannot pull images.
# Requires root on Debian, debootstrap and a docker engine. Prints the names as environment for compose.
set -eu
KEPT=${1:-}
ROOT=${KEPT:-$(mktemp -d)}
trap 'umount -l "$ROOT"/*/proc 2>/dev/null || true' EXIT

[ -d "$ROOT/debian/etc" ] || debootstrap --variant=minbase --include=ca-certificates bookworm "$ROOT/debian" >&2

# layer NAME PACKAGES…: a copy of the base with packages in it.
layer() {
  folder="$ROOT/$1"
  shift
  [ ! -d "$folder" ] || return 0
  cp -a "$ROOT/debian" "$folder.new"
  cp /etc/resolv.conf "$folder.new/etc/resolv.conf"
  cp -a /etc/apt/. "$folder.new/etc/apt/"
  printf '#!/bin/sh\nexit 101\n' > "$folder.new/usr/sbin/policy-rc.d"
  chmod +x "$folder.new/usr/sbin/policy-rc.d"
  chroot "$folder.new" apt-get update -q >&2
  DEBIAN_FRONTEND=noninteractive chroot "$folder.new" apt-get install -qy --no-install-recommends "$@" >&2
  mv "$folder.new" "$folder"
}

# The build installs packages: it uses the CA certificates and package sources of this machine.
cp /etc/ssl/certs/ca-certificates.crt "$ROOT/debian/etc/ssl/certs/ca-certificates.crt"
cp -a /etc/apt/. "$ROOT/debian/etc/apt/"

layer postgres postgresql
layer redis redis-server
if [ ! -d "$ROOT/node" ]; then
  cp -a "$ROOT/debian" "$ROOT/node"
  cp "$(command -v node)" "$ROOT/node/usr/local/bin/node"
  mkdir -p "$ROOT/node/usr/local/lib/node_modules"
  cp -a "$(npm root --global)/npm" "$ROOT/node/usr/local/lib/node_modules/npm"
  ln -sf ../lib/node_modules/npm/bin/npx-cli.js "$ROOT/node/usr/local/bin/npx"
  ln -sf ../lib/node_modules/npm/bin/npm-cli.js "$ROOT/node/usr/local/bin/npm"
fi

# What the official image does with POSTGRES_USER, POSTGRES_DB and POSTGRES_PASSWORD_FILE, as far as compose uses it.
cat > "$ROOT/postgres/usr/local/bin/docker-entrypoint.sh" <<'START'
#!/bin/sh
set -eu
PATH=$PATH:$(echo /usr/lib/postgresql/*/bin)
data=/var/lib/postgresql/data
if [ "$(id -u)" = 0 ]; then
  chown postgres:postgres "$data"
  exec setpriv --reuid=postgres --regid=postgres --clear-groups "$0" "$@"
fi
if [ ! -s "$data/PG_VERSION" ]; then
  initdb --username="$POSTGRES_USER" --pwfile="$POSTGRES_PASSWORD_FILE" --auth=scram-sha-256 --auth-local=trust "$data"
  echo "host all all all scram-sha-256" >> "$data/pg_hba.conf"
  [ "$POSTGRES_DB" = postgres ] || {
    pg_ctl -w -D "$data" -o "-c listen_addresses='' -k /tmp" start
    createdb -h /tmp -U "$POSTGRES_USER" "$POSTGRES_DB"
    pg_ctl -w -D "$data" stop
  }
fi
[ "${1:-postgres}" = postgres ] || exec "$@"
[ $# -eq 0 ] || shift
exec postgres -D "$data" -c listen_addresses='*' -k /var/run/postgresql "$@"
START
chmod +x "$ROOT/postgres/usr/local/bin/docker-entrypoint.sh"
# What the official image does as root with the command redis-server.
cat > "$ROOT/redis/usr/local/bin/docker-entrypoint.sh" <<'START'
#!/bin/sh
set -eu
chown -R redis /data
exec setpriv --reuid=redis --regid=redis --clear-groups "$@"
START
chmod +x "$ROOT/redis/usr/local/bin/docker-entrypoint.sh"
ln -sf "$(cd "$ROOT/postgres" && echo usr/lib/postgresql/*/bin/pg_isready | sed 's|^|/|')" "$ROOT/postgres/usr/local/bin/pg_isready"

# Images of a kept folder are kept too: another import would be another base, and everything on it would be built again.
import() {
  name=$1
  shift
  [ "$name" = postgres ] || [ "$name" = redis ] || [ -z "$KEPT" ] || ! docker image inspect "scanfarm-base-$name" >/dev/null 2>&1 || return 0
  tar -C "$ROOT/$name" --exclude=./proc/* --exclude=./var/cache/apt --exclude=./var/lib/apt/lists -c . | docker import "$@" - "scanfarm-base-$name" >&2
}
import debian
import node --change 'ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt'
import redis
import postgres --change 'ENTRYPOINT ["docker-entrypoint.sh"]' --change 'CMD ["postgres"]'

echo "BUILD_IMAGE=scanfarm-base-node"
echo "BASE_IMAGE=scanfarm-base-debian"
echo "POSTGRES_IMAGE=scanfarm-base-postgres"
echo "REDIS_IMAGE=scanfarm-base-redis"
