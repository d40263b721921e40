import { once } from 'node:events'
import { basename, dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { ClientChannel } from 'ssh2'
import { codeOf } from '@scanfarm/paths'
import { packFiles, unpackInto, type ModeOf } from '../folder-archive.ts'
import type { SentFile } from '../sent-files.ts'
import { quote } from '../shell/session-script.ts'
import type { RemoteFiles } from './remote-files.ts'

/** Exit codes of the scripts that `tar` and `mkdir` do not have. */
const EXISTS = 44
const MISSING = 45
const NO_PROGRAM = 127
const MOST_STDERR = 500
/** GNU tar ends with code 1 if commands write or remove files meanwhile. */
const CHANGED = /^[^\n]*: file (changed as|removed before) we read it$/i

/** Commands need their folders, and no other user of the host needs the files. */
const ownerMode: ModeOf = (mode, isFolder) => (mode & 0o777) | (isFolder ? 0o700 : 0)

interface Ended {
  /** Undefined if the connection was lost or a signal ended the script. */
  readonly code: number | undefined
  readonly stderr: string
}

/** Files of a host without SFTP, by its shell and its `tar`. Paths are absolute and the same on both machines. */
export class ShellFiles implements RemoteFiles {
  readonly method = 'tar'
  readonly #exec: (command: string) => Promise<ClientChannel>
  readonly #noSftp: string

  /** `noSftp`: how the host answered the request for SFTP. */
  constructor(exec: (command: string) => Promise<ClientChannel>, noSftp: string) {
    this.#exec = exec
    this.#noSftp = noSftp
  }

  async exists(path: string): Promise<boolean> {
    return (await this.#run(`test -e ${quote(path)} || exit ${MISSING}`, [MISSING])) !== MISSING
  }

  async makeFolder(path: string): Promise<boolean> {
    const [folder, parent] = [quote(path), quote(dirname(path))]
    // Runs that start at the same time create common parents at the same time.
    const found = `test -d ${folder} && exit ${EXISTS}`
    const script = `${found}; mkdir -p ${parent} && mkdir ${folder} || { ${found}; exit 1; }`
    return (await this.#run(script, [EXISTS])) !== EXISTS
  }

  async push(path: string, files: AsyncIterable<SentFile>, signal: AbortSignal): Promise<void> {
    await this.makeFolder(dirname(path))
    await this.#run('cd / && exec tar -xof -', [], (channel) => {
      channel.resume()
      return pipeline(packFiles(withoutLinks(files), ownerMode, signal), channel, { signal })
    })
  }

  async pull(path: string, root: string, signal: AbortSignal): Promise<void> {
    const [from, name] = [quote(path), quote(`./${basename(path)}`)]
    // Like SFTP, follows the path itself if it is a link, and no link below.
    const script =
      `test -e ${from} || exit ${MISSING}; cd ${quote(dirname(path))} || exit 2; ` +
      `if test -d ${from}; then exec tar -cf - ${name}/.; else exec tar -chf - ${name}; fi`
    const code = await this.#run(script, [MISSING], (channel) => unpackInto(root, path, channel, signal))
    if (code === MISSING) throw new Error('it does not exist there')
  }

  /** Resolves with 0 or an expected exit code. */
  async #run(
    script: string,
    expected: readonly number[],
    move: (channel: ClientChannel) => Promise<void> = async (channel) => void channel.resume(),
  ): Promise<number> {
    const channel = await this.#exec(`exec /bin/sh -c ${quote(script)}`)
    const ending = endOf(channel)
    try {
      await move(channel)
    } catch (error) {
      // The host closes the channel if its script fails.
      if (codeOf(error) !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
    }
    const { code, stderr } = await ending
    if (code !== undefined && (code === 0 || expected.includes(code))) return code
    if (code === 1 && stderr.split('\n').every((line) => CHANGED.test(line))) return 0
    if (code === NO_PROGRAM)
      throw new Error(
        `it offers neither SFTP ("${this.#noSftp}") nor tar ("${stderr}"): add "Subsystem sftp internal-sftp" to its sshd_config, or install tar there`,
      )
    if (code === undefined) throw new Error('the connection was lost')
    throw new Error(stderr || `the shell ended with code ${code}`)
  }
}

async function* withoutLinks(files: AsyncIterable<SentFile>): AsyncGenerator<SentFile> {
  for await (const file of files) if (file.target === undefined) yield file
}

/** Does not reject. */
async function endOf(channel: ClientChannel): Promise<Ended> {
  let stderr = ''
  channel.on('error', () => {})
  channel.stderr.on('error', () => {})
  channel.stderr.on('data', (bytes: Buffer) => {
    stderr = (stderr + bytes.toString()).slice(0, MOST_STDERR)
  })
  const closed: readonly unknown[] = await once(channel, 'close')
  const code = closed[0]
  return { code: typeof code === 'number' ? code : undefined, stderr: stderr.trim() }
}
