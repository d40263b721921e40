import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort, until } from '@scanfarm/testing'

const exec = promisify(execFile)

/** An OpenSSH server on this machine that sees its own files under `root`, and has a user of its own. */
export interface TestSshServer extends AsyncDisposable {
  readonly port: number
  readonly user: string
  readonly password: string
  /** Private key that the user may log in with. */
  readonly keyFile: string
  /** Knows the server's key. */
  readonly knownHosts: string
  /** Exists here and there, with different content. */
  readonly root: string
}

const USER = 'scanfarm-test'
const PASSWORD = 'correct horse'
const UID = 60_123

/** In a mount namespace, as root. `settings` precede its configuration; `sftp`: its server, or `''` for none. */
export async function startSshServer(
  settings: readonly string[] = [],
  sftp = 'internal-sftp',
): Promise<TestSshServer> {
  const folder = await mkdtemp(join(tmpdir(), 'scanfarm-sshd-'))
  await chmod(folder, 0o755)
  const at = (name: string): string => join(folder, name)
  const root = at('root')
  const port = await freePort()
  const subsystem = sftp === '' ? [] : [`Subsystem sftp ${sftp}`, '']
  await mkdir(root)
  await mkdir('/run/sshd', { recursive: true })
  await makeKey(at('host_key'))
  await makeKey(at('user_key'))
  await copyFile(at('user_key.pub'), at('authorized_keys'))
  await writeFile(at('known_hosts'), `[127.0.0.1]:${port} ${await readFile(at('host_key.pub'), 'utf8')}`)
  await writeUsers(at)
  await writeFile(at('sshd_config'), [...settings, configOf(folder, port), ...subsystem].join('\n'))
  const mounts = [
    'mount --make-rprivate /',
    'mount -t tmpfs -o mode=1777 tmpfs "$1/root"',
    'mount --bind "$1/passwd" /etc/passwd',
    'mount --bind "$1/shadow" /etc/shadow',
    '/usr/sbin/sshd -D -e -f "$1/sshd_config" </dev/null &',
    // It goes with the tests, also when these are killed.
    'read -r _ || kill $!',
  ]
  const server = spawn('unshare', ['--mount', 'sh', '-ec', mounts.join('\n'), 'sh', folder], {
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  server.stderr.pipe(createWriteStream(at('log')))
  const stop = async (): Promise<void> => {
    await end(server)
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await until(() => answers(server, port))
  } catch (error) {
    const log = await readFile(at('log'), 'utf8')
    await stop()
    throw new Error(`sshd does not start: ${log}`, { cause: error })
  }
  return {
    port,
    user: USER,
    password: PASSWORD,
    keyFile: at('user_key'),
    knownHosts: at('known_hosts'),
    root,
    [Symbol.asyncDispose]: stop,
  }
}

export const makeKey = async (file: string): Promise<void> =>
  void (await exec('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file]))

async function writeUsers(at: (name: string) => string): Promise<void> {
  const { stdout: hash } = await exec('openssl', ['passwd', '-6', PASSWORD])
  const passwd = await readFile('/etc/passwd', 'utf8')
  await writeFile(at('passwd'), `${passwd.trim()}\n${USER}:x:${UID}:${UID}::${at('root')}:/bin/sh\n`)
  await writeFile(at('shadow'), `root:*:1::::::\nsshd:*:1::::::\n${USER}:${hash.trim()}:1::::::\n`, {
    mode: 0o600,
  })
}

const configOf = (folder: string, port: number): string => `
Port ${port}
ListenAddress 127.0.0.1
HostKey ${folder}/host_key
PidFile ${folder}/pid
AuthorizedKeysFile ${folder}/authorized_keys
StrictModes no
UsePAM no
PasswordAuthentication yes
MaxStartups 100
`

async function answers(server: ChildProcess, port: number): Promise<boolean> {
  if (server.exitCode !== null) throw new Error(`it ended with code ${server.exitCode}`)
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'data')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  const ended = once(server, 'exit')
  server.stdin?.end()
  await ended
}
