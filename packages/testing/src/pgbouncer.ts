import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { until } from './until.ts'

const answers = async (port: number): Promise<boolean> => {
  const socket = connect(port, '127.0.0.1')
  const opened = await Promise.race([
    once(socket, 'connect').then(() => true),
    once(socket, 'error').then(() => false),
  ]).catch(() => false)
  socket.destroy()
  return opened
}

/** PgBouncer with its usual settings before the server of `url`. Disposing stops it. */
export async function startPgbouncer(
  url: string,
  mode: 'session' | 'transaction' | 'statement',
  more = '',
): Promise<AsyncDisposable & { readonly url: string }> {
  const program = process.env['SCANFARM_TEST_PGBOUNCER']
  if (!program) throw new Error('set SCANFARM_TEST_PGBOUNCER to the path of pgbouncer (npm test does)')
  const server = new URL(url)
  const port = await freePort()
  const folder = await mkdtemp(join(tmpdir(), 'scanfarm-pgbouncer-'))
  // It refuses to run as root.
  await chmod(folder, 0o777)
  const file = join(folder, 'pgbouncer.ini')
  await writeFile(
    file,
    `[databases]
* = host=${server.hostname} port=${server.port} user=${server.username} password=${server.password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = 10
ignore_startup_parameters = extra_float_digits
${more}
`,
    { mode: 0o644 },
  )
  const child = spawn(program, [...(process.getuid?.() === 0 ? ['-u', 'nobody'] : []), file], {
    stdio: 'ignore',
  })
  const ended = once(child, 'exit')
  await until(() => answers(port))
  server.hostname = '127.0.0.1'
  server.port = String(port)
  return {
    url: server.href,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}
