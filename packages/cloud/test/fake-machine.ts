import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '@scanfarm/testing'

const exec = promisify(execFile)
const UID = 60_124

/** The parts of the user data that a fake machine uses. */
export interface CloudConfig {
  readonly users: readonly { readonly name: string; readonly ssh_authorized_keys: readonly string[] }[]
  readonly ssh_keys: { readonly ed25519_private: string }
  readonly write_files: readonly {
    readonly path: string
    readonly permissions: string
    readonly content: string
  }[]
  readonly runcmd: readonly (readonly string[])[]
}

/** A real sshd with its own processes, `/var/lib` and one more folder. Needs root. */
export class FakeMachine {
  readonly port: number
  readonly #process: ChildProcess
  readonly #folder: string

  constructor(port: number, process: ChildProcess, folder: string) {
    this.port = port
    this.#process = process
    this.#folder = folder
  }

  /** At once: its first process ends with its input, and the kernel kills the rest, before `unshare` has ended. */
  async kill(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      const ended = once(this.#process, 'exit')
      this.#process.stdin?.end()
      await ended
    }
    await rm(this.#folder, { recursive: true, force: true })
  }
}

/** Sets the machine up like cloud-init; commands run after sshd has started. `ownFolder` must exist. */
export async function startFakeMachine(config: CloudConfig, ownFolder: string): Promise<FakeMachine> {
  const folder = await mkdtemp(join(tmpdir(), 'scanfarm-machine-'))
  await chmod(folder, 0o755)
  await mkdir('/run/sshd', { recursive: true })
  const port = await freePort()
  const at = (name: string): string => join(folder, name)
  const [user] = config.users
  if (user === undefined) throw new Error('the user data names no user')
  await writeUsers(at, user.name)
  await writeFile(at('authorized_keys'), `${user.ssh_authorized_keys.join('\n')}\n`)
  await writeFile(at('host_key'), config.ssh_keys.ed25519_private, { mode: 0o600 })
  await writeFile(at('sshd_config'), sshdConfig(folder, port))
  const placing: string[] = []
  for (const [index, file] of config.write_files.entries()) {
    await writeFile(at(`file-${index}`), file.content)
    placing.push(`mkdir -p '${dirname(file.path)}'`, `cat '${at(`file-${index}`)}' >'${file.path}'`)
    placing.push(`chmod ${file.permissions} '${file.path}'`)
  }
  const script = [
    'mount --make-rprivate /',
    'mount -t tmpfs -o mode=755 tmpfs /var/lib',
    `mount -t tmpfs -o mode=755 tmpfs '${ownFolder}'`,
    `mount --bind '${at('passwd')}' /etc/passwd`,
    `mount --bind '${at('shadow')}' /etc/shadow`,
    ...placing,
    `/usr/sbin/sshd -D -e -f '${at('sshd_config')}' </dev/null &`,
    `(${config.runcmd.map((words) => words.map((word) => `'${word}'`).join(' ')).join('\n')}) </dev/null &`,
    // Ends with the tests, also when they are killed.
    'read -r _ || exit 0',
  ]
  const machine = spawn(
    'unshare',
    ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc', 'sh', '-ec', script.join('\n')],
    { stdio: ['pipe', 'ignore', 'pipe'] },
  )
  machine.stderr.pipe(createWriteStream(at('log')))
  return new FakeMachine(port, machine, folder)
}

async function writeUsers(at: (name: string) => string, user: string): Promise<void> {
  const passwd = await readFile('/etc/passwd', 'utf8')
  const own = user === 'root' ? '' : `${user}:x:${UID}:${UID}::${at('home')}:/bin/sh\n`
  await mkdir(at('home'), { recursive: true })
  await exec('chown', [`${UID}:${UID}`, at('home')])
  await writeFile(at('passwd'), `${passwd.trim()}\n${own}`)
  await writeFile(at('shadow'), `root:*:1::::::\nsshd:*:1::::::\n${user}:*:1::::::\n`, { mode: 0o600 })
}

const sshdConfig = (folder: string, port: number): string => `
Port ${port}
ListenAddress 127.0.0.1
HostKey ${folder}/host_key
PidFile none
AuthorizedKeysFile ${folder}/authorized_keys
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin prohibit-password
Subsystem sftp internal-sftp
MaxStartups 100
`
