#!/bin/sh
# Installs Scanfarm as services of systemd, on a machine with Node 22 or newer and npm. Repeating it upgrades.
set -eu
# Services read the program, whatever the caller's umask is. Settings and data get explicit modes.
umask 022

VERSION=latest
TARBALL=
MASTER=no
WORKER=no
DRY_RUN=no
UNINSTALL=no
PURGE=no
PROGRAM=/usr/local/lib/scanfarm
LINK=/usr/local/bin/scanfarm
CONFIG=/etc/scanfarm
DATA=/var/lib/scanfarm
UNITS=/etc/systemd/system

usage() {
  cat <<EOF
Usage: install.sh [--master] [--worker] [--version VERSION | --tarball FILE] [--dry-run]
       install.sh --uninstall [--purge] [--dry-run]

  --master             enable and start the master on this machine
  --worker             enable and start a worker on this machine
  --version VERSION    version of the npm package (default: latest)
  --tarball FILE       install this file instead, for example scanfarm-1.2.3.tgz
  --uninstall          stop and remove the services and the program; settings and data stay
  --purge              with --uninstall: also remove the settings, the data and the user scanfarm
  --dry-run            only print the commands

Without --master and --worker, the services are installed but not enabled.
EOF
}

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

# Prints a command and executes it, unless this is a dry run.
run() {
  echo "+ $*"
  [ "$DRY_RUN" = yes ] || "$@"
}

# Writes standard input to a file: write FILE MODE GROUP
write() {
  echo "+ write $1 (root:$3, $2)"
  if [ "$DRY_RUN" = yes ]; then
    cat >/dev/null
    return
  fi
  cat >"$1.new"
  chown "root:$3" "$1.new"
  chmod "$2" "$1.new"
  mv -f "$1.new" "$1"
}

argument() {
  [ -n "${2:-}" ] || fail "$1 needs a value; see: install.sh --help"
}

while [ $# -gt 0 ]; do
  case $1 in
    --master) MASTER=yes ;;
    --worker) WORKER=yes ;;
    --version)
      argument "$@"
      VERSION=$2
      shift
      ;;
    --tarball)
      argument "$@"
      TARBALL=$2
      shift
      ;;
    --uninstall) UNINSTALL=yes ;;
    --purge) PURGE=yes ;;
    --dry-run) DRY_RUN=yes ;;
    -h | --help)
      usage
      exit 0
      ;;
    *) fail "unknown option $1; see: install.sh --help" ;;
  esac
  shift
done

[ "$PURGE" = no ] || [ "$UNINSTALL" = yes ] || fail "--purge is only for --uninstall"
[ "$DRY_RUN" = yes ] || [ "$(id -u)" = 0 ] || fail "run it as root, or with --dry-run"

# A chroot or an image being built has no running systemd.
has_systemd() { [ -d /run/systemd/system ]; }

check_node() {
  command -v npm >/dev/null 2>&1 || fail "npm is not on PATH; install Node 22 or newer with npm (https://nodejs.org)"
  found=$(node --version 2>/dev/null || true)
  case $found in
    v2[2-9].* | v[3-9][0-9].*) ;;
    *) fail "Node 22 or newer is needed; found ${found:-none}. Install it system-wide, for example from https://nodejs.org" ;;
  esac
  # Services have no access to home folders.
  case $(readlink -f -- "$(command -v node)") in
    /home/* | /root/* | /run/user/*)
      fail "$(command -v node) is in a home folder, which services cannot read; install Node system-wide" ;;
  esac
}

make_user() {
  id -u scanfarm >/dev/null 2>&1 ||
    run useradd --system --user-group --no-create-home --home-dir "$DATA" --shell /usr/sbin/nologin scanfarm
}

install_program() {
  if [ -n "$TARBALL" ]; then
    [ -f "$TARBALL" ] || fail "$TARBALL does not exist"
    package=$(readlink -f -- "$TARBALL")
  else
    package=scanfarm@$VERSION
  fi
  run mkdir -p "$PROGRAM"
  [ -f "$PROGRAM/package.json" ] || echo '{ "private": true }' | write "$PROGRAM/package.json" 0644 root
  run npm install --prefix "$PROGRAM" --save-exact --no-audit --no-fund --omit=dev "$package"
  # Units start it without the PATH of this shell.
  write "$LINK" 0755 root <<EOF
#!/bin/sh
PATH=$(dirname -- "$(command -v node)"):\$PATH
export PATH
exec $PROGRAM/node_modules/.bin/scanfarm "\$@"
EOF
}

write_settings() {
  run install -d -o root -g scanfarm -m 0750 "$CONFIG"
  run install -d -o scanfarm -g scanfarm -m 0711 "$DATA"
  [ -e "$CONFIG/scanfarm.yaml" ] || write "$CONFIG/scanfarm.yaml" 0640 scanfarm <<'EOF'
# Settings of the master and of workers on this machine: run `scanfarm config` to see all of them.
#
# Without an address, the master starts its own Postgres and Redis. Workers on other machines need the addresses:
#
# database:
#   url: {file: /etc/scanfarm/database-url} # postgres://USER:PASSWORD@HOST:5432/DATABASE
# redis:
#   url: {file: /etc/scanfarm/redis-url} # redis://:PASSWORD@HOST:6379
#
# The API listens on the loopback address; put a proxy with TLS before it.
http:
  host: 127.0.0.1
  port: 8002
EOF
}

install_units() {
  units=$PROGRAM/node_modules/scanfarm/infra/systemd
  [ -d "$units" ] || [ "$DRY_RUN" = yes ] || fail "the units are missing in $units"
  for unit in scanfarm-master scanfarm-worker; do
    run install -o root -g root -m 0644 "$units/$unit.service" "$UNITS/$unit.service"
  done
  if ! has_systemd; then
    echo "systemd does not run here: the services are installed, but not started"
    return
  fi
  run systemctl daemon-reload
  [ "$MASTER" = no ] || run systemctl enable scanfarm-master.service
  [ "$WORKER" = no ] || run systemctl enable scanfarm-worker.service
  for unit in scanfarm-master scanfarm-worker; do
    # An upgrade restarts what runs.
    if systemctl --quiet is-enabled "$unit.service" 2>/dev/null; then run systemctl restart "$unit.service"; fi
  done
}

uninstall() {
  if has_systemd; then
    for unit in scanfarm-worker scanfarm-master; do
      [ ! -e "$UNITS/$unit.service" ] || run systemctl disable --now "$unit.service"
    done
  fi
  run rm -f "$UNITS/scanfarm-master.service" "$UNITS/scanfarm-worker.service" "$LINK"
  run rm -rf "$PROGRAM" /var/cache/scanfarm /var/cache/scanfarm-worker
  if has_systemd; then run systemctl daemon-reload; fi
  if [ "$PURGE" = no ]; then
    echo "kept: $CONFIG, $DATA and the user scanfarm; remove them with --uninstall --purge"
    return
  fi
  run rm -rf "$CONFIG" "$DATA" /var/lib/scanfarm-uids
  if id -u scanfarm >/dev/null 2>&1; then run userdel scanfarm; fi
}

if [ "$UNINSTALL" = yes ]; then
  uninstall
  exit 0
fi
check_node
make_user
install_program
write_settings
[ "$DRY_RUN" = yes ] || version=$(runuser -u scanfarm -- "$LINK" --version) || fail "the user scanfarm cannot execute $LINK"
install_units
[ "$DRY_RUN" = yes ] || echo "Scanfarm $version is installed; settings: $CONFIG/scanfarm.yaml, data: $DATA"
[ "$MASTER" = no ] || echo "the administrator token is in $DATA/admin-token once the master has started"
