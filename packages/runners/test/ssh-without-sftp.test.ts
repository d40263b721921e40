import { chmod, lstat, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, jest, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import type { Runner } from '@scanfarm/contracts'
import { createSshRunners } from '../src/index.ts'
import { TEST_MS } from './processes.ts'
import { startSshServer, type TestSshServer } from './ssh-server.ts'

jest.setTimeout(TEST_MS)

const NEVER = new AbortController().signal
const MANY_BYTES = 5_000_000
const LONG = 'long-'.repeat(40)

/** The server and a runner for a run with a new folder. */
class Host implements AsyncDisposable {
  readonly server: TestSshServer
  readonly #provider: ReturnType<typeof createSshRunners>
  readonly #opened: AsyncDisposable[] = []

  constructor(server: TestSshServer) {
    this.server = server
    const { keyFile, knownHosts } = server
    this.#provider = createSshRunners({ keyFile, knownHosts, attempts: 1 })
  }

  get name(): string {
    return `${this.server.user}@127.0.0.1:${this.server.port}`
  }

  async folder(): Promise<string> {
    return await mkdtemp(join(this.server.root, 'run-'))
  }

  async open(folder: string): Promise<Runner> {
    const { port, user } = this.server
    const runner = await this.#provider.open(
      { type: 'ssh', host: '127.0.0.1', port, user },
      {
        runUuid: crypto.randomUUID(),
        attempt: 1,
        folder,
        marker: `files-${crypto.randomUUID()}`,
        signal: NEVER,
        log: () => {},
      },
    )
    this.#opened.push(runner)
    return runner
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const each of this.#opened) await each[Symbol.asyncDispose]()
    await this.#provider[Symbol.asyncDispose]()
    await this.server[Symbol.asyncDispose]()
  }
}

const hostWith = async (sftp: string, settings: readonly string[] = []): Promise<Host> =>
  new Host(await startSshServer(settings, sftp))

async function text(runner: Runner, script: string): Promise<string> {
  let said = ''
  const onOutput = (_: string, chunk: Buffer): void => void (said += chunk.toString())
  await runner.run(
    { argv: ['/bin/sh', '-c', script], env: { PATH: '/usr/bin:/bin' } },
    { signal: NEVER, onOutput },
  )
  return said
}

/** Files with names, modes and sizes that are easily damaged. */
async function writeFiles(folder: string): Promise<void> {
  await mkdir(join(folder, 'deep/empty'), { recursive: true })
  await mkdir(join(folder, 'private'), { mode: 0o700 })
  await writeFile(join(folder, 'private/key'), 'secret', { mode: 0o600 })
  await writeFile(join(folder, 'deep/tool'), '#!/bin/sh\n', { mode: 0o755 })
  await writeFile(join(folder, "deep/it's -x"), '')
  await writeFile(join(folder, 'many'), Buffer.alloc(MANY_BYTES, 'x'))
  await symlink('/etc/passwd', join(folder, 'link'))
}

describe.each([
  ['refuses SFTP', ''],
  ['has no program for SFTP', '/nonexistent'],
  ['has a program for SFTP that ends', '/bin/false'],
  ['prints text instead of SFTP', '/bin/echo welcome to this host'],
])('an ssh host that %s', (_, sftp) => {
  const host = forAllTests(() => hostWith(sftp, ['MaxSessions 2']))

  test('receives files with their modes, and sends files back', async () => {
    const folder = await host.folder()
    await writeFiles(folder)
    await writeFile(join(folder, `${LONG}é`), 'long')
    const runner = await host.open(folder)
    await runner.push(folder, NEVER)
    expect((await text(runner, `stat -c '%a %s %n' private private/key deep/tool many`)).split('\n')).toEqual(
      [
        expect.stringMatching(/^700 \d+ private$/),
        '600 6 private/key',
        '755 10 deep/tool',
        `644 ${MANY_BYTES} many`,
        '',
      ],
    )
    expect(await text(runner, `ls -d deep/empty "deep/it's -x" && test ! -h link && cat ${LONG}é`)).toBe(
      `deep/empty\ndeep/it's -x\nlong`,
    )
    await text(
      runner,
      `mkdir -p out/none; echo new >out/-n; tr x y <many >many.y; mv many.y many; ln many out/hard; ln -s /etc/passwd out/passwd`,
    )
    await runner.pull(folder, NEVER)
    expect((await readdir(join(folder, 'out'))).sort()).toEqual(['-n', 'hard', 'none'])
    expect(await readFile(join(folder, 'out/-n'), 'utf8')).toBe('new\n')
    for (const name of ['many', 'out/hard'])
      expect((await readFile(join(folder, name))).equals(Buffer.alloc(MANY_BYTES, 'y'))).toBe(true)
    expect((await lstat(join(folder, 'link'))).isSymbolicLink()).toBe(true)
  })
})

test('a host with the tar of BusyBox receives and sends files, and one without SFTP and tar is refused', async () => {
  await using programs = await folderOfPrograms(['mkdir', 'tar', 'stat', 'cat'])
  const settings = [`SetEnv PATH=${programs.path}`]
  const host = await hostWith('', settings)
  await using _ = host
  const folder = await host.folder()
  await writeFiles(folder)
  const runner = await host.open(folder)
  await runner.push(folder, NEVER)
  expect(await text(runner, `stat -c '%a %n' private private/key deep/tool`)).toBe(
    '700 private\n600 private/key\n755 deep/tool\n',
  )
  await text(runner, 'echo new >new; ln new hard')
  await runner.pull(folder, NEVER)
  expect(await readFile(join(folder, 'new'), 'utf8')).toBe('new\n')
  expect(await readFile(join(folder, 'hard'), 'utf8')).toBe('new\n')
  await rm(join(programs.path, 'tar'))
  await expect(runner.push(folder, NEVER)).rejects.toThrow(
    `${folder} cannot be copied to the ssh host ${host.name} by tar (it offers neither SFTP ("Unable to start subsystem: sftp") nor tar ("/bin/sh: 1: exec: tar: not found"): add "Subsystem sftp internal-sftp" to its sshd_config, or install tar there)`,
  )
})

test('a host that refuses SFTP is asked for it only once', async () => {
  const host = await hostWith('')
  await using _ = host
  const folder = await host.folder()
  for (const runner of [await host.open(folder), await host.open(folder)]) await runner.push(folder, NEVER)
  const log = await readFile(join(host.server.root, '../log'), 'utf8')
  expect(log.match(/subsystem request for sftp/g)).toHaveLength(1)
})

test('errors of the shell name the host, the path and a remedy', async () => {
  const host = await hostWith('')
  await using _ = host
  const folder = await host.folder()
  await writeFiles(folder)
  const runner = await host.open(folder)
  await text(runner, 'mkdir closed; chmod 0 closed')
  await expect(runner.pull(folder, NEVER)).rejects.toThrow(
    /by tar \(tar: .*closed: Cannot open: Permission denied\n?.*\): give its user the permission/,
  )
  await expect(runner.pull(join(folder, 'missing'), NEVER)).rejects.toThrow(
    `${folder}/missing cannot be copied from the ssh host ${host.name} by tar (it does not exist there)`,
  )
  const inside = join(folder, 'closed/run')
  await mkdir(inside, { recursive: true })
  await expect(host.open(inside)).rejects.toMatchObject({
    name: 'RunnerUnavailableError',
    message: expect.stringMatching(
      new RegExp(
        `^the run's folder ${inside} cannot be created on the ssh host ${host.name} by tar \\(mkdir: .*${inside}.*: Permission denied\\): give its user the permission`,
      ),
    ),
  })
})

/** A folder with the programs as links to BusyBox. */
async function folderOfPrograms(names: readonly string[]): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), 'scanfarm-busybox-'))
  await chmod(path, 0o755)
  for (const name of names) await symlink('/bin/busybox', join(path, name))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) }
}
