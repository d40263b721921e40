#!/bin/sh
# Creates the secret files that docker-compose.yml mounts; existing files are kept. With the name or the address of this
# machine also a certificate for Postgres and Redis, and in secrets/remote the files for workers on other machines.
#   sh infra/make-secrets.sh [HOST]
set -eu
cd "$(dirname "$0")"
host=${1:-}
mkdir -p secrets
chmod 0700 secrets
if [ -n "$host" ] && ! command -v openssl >/dev/null; then
  echo "make-secrets.sh: install openssl, which creates the certificate" >&2
  exit 1
fi

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
# URL of the bucket, if artifacts are in one.
write artifacts-s3 ''

if [ -n "$host" ]; then
  case $host in
    *[!0-9.]*) kind=DNS ;;
    *) kind=IP ;;
  esac
  case $host in *:*) kind=IP ;; esac
  if [ ! -s secrets/tls-certificate ] || ! openssl x509 -in secrets/tls-certificate -noout -ext subjectAltName | grep -qF "$host"; then
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 -subj "/CN=$host" \
      -addext "subjectAltName=$kind:$host" -keyout secrets/tls-key -out secrets/tls-certificate
  fi
  chmod 0644 secrets/tls-key secrets/tls-certificate
  address=$host
  case $host in *:*) address="[$host]" ;; esac
  mkdir -p secrets/remote
  cp secrets/tls-certificate secrets/remote/ca.pem
  cp secrets/artifacts-s3 secrets/remote/
  write worker-password "$(random)"
  printf '%s' "postgres://scan_workers:$(cat secrets/worker-password)@$address:5432/scanfarm?sslmode=verify-full" > secrets/remote/database-url
  printf '%s' "rediss://:$(cat secrets/redis-password)@$address:6380" > secrets/remote/redis-url
  chmod 0644 secrets/remote/*
  echo "files for workers on other machines are in $(pwd)/secrets/remote"
fi
echo "secrets are in $(pwd)/secrets; the administrator token is in admin-token"
