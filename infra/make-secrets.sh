#!/bin/sh
# Creates the secret files that docker-compose.yml mounts; existing files are kept.
set -eu
cd "$(dirname "$0")"
mkdir -p secrets
chmod 0711 secrets

random() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }

# Compose mounts the files unchanged, and the programs that read them are not root: the folder protects them.
write() {
  [ -s "secrets/$1" ] || printf '%s' "$2" > "secrets/$1"
  chmod 0644 "secrets/$1"
}

write postgres-password "$(random)"
write redis-password "$(random)"
write admin-token "sfm_$(random)"
write database-url "postgres://scanfarm:$(cat secrets/postgres-password)@postgres:5432/scanfarm"
write redis-url "redis://:$(cat secrets/redis-password)@redis:6379"
chmod 0700 secrets
echo "secrets are in $(pwd)/secrets; the administrator token is in admin-token"
