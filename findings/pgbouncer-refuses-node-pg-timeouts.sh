#!/usr/bin/env bash
# node-postgres has the options statement_timeout, lock_timeout and idle_in_transaction_session_timeout. One would guess that they are set by statements after the login, and work wherever SQL works.
# They are sent as startup parameters, and PgBouncer refuses the login for each of them: "unsupported startup parameter". Its default configuration contacts no server for this, so a healthy database does not help.
# query_timeout, which looks alike, is a timer in the client and gets past the login.
# The parameters can be listed in ignore_startup_parameters, but then they are dropped, and statements have no limit.
# A service with a time limit for statements stops at its first connection when a pooler is put before its database.
# Seen with pg 8.23.1 and PgBouncer 1.18.0 (Debian 12).
set -euo pipefail
version=$(/usr/sbin/pgbouncer --version | awk 'NR == 1 { print $2 }')
[[ "$version" == 1.18.0 ]] || { echo "needs PgBouncer 1.18.0, found $version" >&2; exit 2; }
work=$(mktemp -d)
trap 'kill "$pooler" 2> /dev/null || true; rm -rf "$work"' EXIT
npm install --silent --no-audit --no-fund --prefix "$work" pg@8.23.1
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat > "$work/pgbouncer.ini" <<INI
[databases]
app = host=127.0.0.1 port=1
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $port
unix_socket_dir =
auth_type = any
admin_users = admin
INI
# PgBouncer does not run as root. It only serves its own console here.
user=()
((EUID != 0)) || user=(-u nobody)
chmod 755 "$work"
/usr/sbin/pgbouncer --quiet "${user[@]}" "$work/pgbouncer.ini" 2> "$work/log" &
pooler=$!
until (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null; do sleep 0.1; done

cat > "$work/login.cjs" <<'JS'
const { Client } = require('pg')
const main = async () => {
  const options = ['query_timeout', 'statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout']
  for (const option of options) {
    const client = new Client({
      host: '127.0.0.1',
      port: Number(process.argv[2]),
      user: 'admin',
      database: 'pgbouncer',
      [option]: 5000,
    })
    client.on('error', () => {})
    const outcome = await client.connect().then(
      () => 'logged in',
      (error) => error.message,
    )
    console.log(`${option}: ${outcome}`)
    await client.end().catch(() => {})
  }
  process.exit()
}
main()
JS
seen=$(node "$work/login.cjs" "$port")
expected='query_timeout: logged in
statement_timeout: unsupported startup parameter: statement_timeout
lock_timeout: unsupported startup parameter: lock_timeout
idle_in_transaction_session_timeout: unsupported startup parameter: idle_in_transaction_session_timeout'
printf 'pg 8.23.1, PgBouncer %s\nexpected: logged in with each option\nseen:\n%s\n' "$version" "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
