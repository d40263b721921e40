import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, lstat, mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import type { CommandIo, Runner } from '@scanfarm/contracts'
import { until } from '@scanfarm/testing'
import { createHostRunners, type HostRunners, type HostRunnersOptions } from '../src/index.ts'
import { PipePool } from '../src/host/pipe-pool.ts'
import { LauncherClient } from '../src/host/launcher/client.ts'
import { bounded, launcherPrograms } from '../src/host/launcher/programs.ts'
import { TEST_MS, alive, token } from './processes.ts'

jest.setTimeout(TEST_MS)

const env = { PATH: '/usr/local/bin:/usr/bin:/bin' }
const sh = (script: string) => ({ argv: ['/bin/sh', '-c', script], env })

describe.each(['perl', 'node'] as const)('the launcher as a %s program', (launcher) => {
  let folder: string
  let provider: HostRunners | undefined
  let lastMarker = 0

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'scanfarm-launcher-'))
    await chmod(folder, 0o755)
  })
  afterEach(async () => {
    await provider?.[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  async function open(options: HostRunnersOptions = {}): Promise<Runner> {
    provider = createHostRunners({ launcher, ...options })
    return await provider.open(
      { type: 'host' },
      {
        runUuid: crypto.randomUUID(),
        attempt: 1,
        folder,
        marker: `launcher-${process.pid}-${++lastMarker}`,
        signal: new AbortController().signal,
        log: () => {},
      },
    )
  }

  async function run(runner: Runner, script: string, io: Partial<CommandIo> = {}) {
    let text = ''
    const outcome = await runner.run(sh(script), {
      signal: new AbortController().signal,
      onOutput: (_, chunk) => void (text += chunk.toString()),
      ...io,
    })
    return { outcome, text }
  }

  test('kills everything that it started when the worker is killed', async () => {
    const [word, orphan] = [token(), token()]
    const script = `setsid sleep ${orphan} & echo started; echo $PPID; sleep ${word}; true`
    const worker = spawn(
      process.execPath,
      [
        fileURLToPath(new URL('./killed-worker.ts', import.meta.url)),
        JSON.stringify({ host: { launcher } }),
        JSON.stringify({ type: 'host' }),
        folder,
        script,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    let said = ''
    worker.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
    const both = () => alive(word).length > 0 && alive(orphan).length > 0
    await until(() => /started\n\d+\n/.test(said) && both())
    const pipes = await readFile(`/proc/${said.split('\n')[1]}/cmdline`, 'utf8')
    const pipeFolder = pipes.split('\0').find((part) => part.includes('scanfarm-pipes-')) ?? ''

    worker.kill('SIGKILL')
    await once(worker, 'exit')
    await until(() => alive(word).length + alive(orphan).length === 0)
    await until(async () => (await stat(pipeFolder).catch(() => undefined)) === undefined)
  })

  test('is replaced when it dies, and its commands are reported as lost', async () => {
    const word = token()
    const runner = await open()
    const lost = run(runner, `setsid sleep ${word} & sleep ${word}`)
    await until(() => alive(word).length === 2)
    const first = provider?.launcherPid ?? 0
    process.kill(first, 'SIGKILL')
    expect((await lost).outcome).toEqual({ kind: 'lost', reason: expect.stringContaining('SIGKILL') })
    expect(alive(word)).toEqual([])
    expect(await run(runner, 'echo again')).toEqual({ outcome: { kind: 'exited', code: 0 }, text: 'again\n' })
    expect(provider?.launcherPid).not.toBe(first)
    await runner[Symbol.asyncDispose]()
  })

  test('starts programs by their path and by their name, with the words and variables as they are', async () => {
    const program = join(folder, 'show-words')
    // Without a first line that names an interpreter, a program is executed by the shell.
    await writeFile(program, 'printf "[%s]" "$@" "$A_VARIABLE"; exit 3\n')
    await chmod(program, 0o755)
    const runner = await open()
    const variables = { ...env, PATH: `${folder}:${env.PATH}`, A_VARIABLE: 'a=b\n"é' }
    for (const first of [program, 'show-words', './show-words']) {
      let text = ''
      const outcome = await runner.run(
        { argv: [first, '', 'two words', '7'], env: variables },
        { signal: new AbortController().signal, onOutput: (_, chunk) => void (text += chunk.toString()) },
      )
      expect({ first, outcome, text }).toEqual({
        first,
        outcome: { kind: 'exited', code: 3 },
        text: '[][two words][7][a=b\n"é]',
      })
    }
    await runner[Symbol.asyncDispose]()
  })

  test('starts a shell command that is one program and its arguments without a shell', async () => {
    const runner = await open()
    const { text } = await run(runner, "cat '/proc/self/stat'")
    expect(text).toMatch(/ \(cat\) /)
    expect(Number(text.split(' ')[3])).toBe(provider?.launcherPid)
    expect((await run(runner, 'printenv PWD')).text).toBe(`${folder}\n`)
    await runner[Symbol.asyncDispose]()
  })

  test('finds the program of such a command where a shell finds it', async () => {
    const [first, second] = [join(folder, 'first'), join(folder, 'second')]
    for (const path of [first, second]) await mkdir(path)
    await writeFile(join(first, 'tool'), 'echo it may not be executed\n')
    await writeFile(join(second, 'tool'), 'echo "$0 $1"\n', { mode: 0o755 })
    const runner = await open({ env: { PATH: `${first}:${second}:${env.PATH}` } })
    const words = async (script: string) => {
      let text = ''
      const onOutput = (_: string, chunk: Buffer): void => void (text += chunk.toString())
      const { signal } = new AbortController()
      const outcome = await runner.run({ argv: ['/bin/sh', '-c', script], env: {} }, { signal, onOutput })
      return { text, outcome }
    }
    const exited = (code: number) => ({ kind: 'exited', code })
    expect(await words('tool a')).toEqual({ text: `${join(second, 'tool')} a\n`, outcome: exited(0) })
    for (const path of [first, second]) await rm(join(path, 'tool'))
    expect(await words('tool a')).toEqual({
      text: expect.stringContaining('not found'),
      outcome: exited(127),
    })
    await runner[Symbol.asyncDispose]()
  })

  /** The result of a command whose launcher tries `first` before the program that works. */
  const launchAfter = async (first: { command: string; args: string[] }): Promise<unknown> => {
    await using pool = new PipePool()
    await using client = new LauncherClient([{ ...first, env }, ...launcherPrograms(launcher)], pool.folder)
    const [stdout, stderr] = [await pool.open(), await pool.open()]
    const launched = await client.launch({
      argv: ['/bin/sh', '-c', 'exit 7'],
      env,
      cwd: '/',
      stdout: stdout.path,
      stderr: stderr.path,
      marker: `replaced-${++lastMarker}`,
    })
    const end = launched.kind === 'started' ? (await launched.ended).end : launched
    for (const pipe of [stdout, stderr]) await pool.closeAndRelease(pipe, true)
    return end
  }

  test('starts waiting commands after the next program replaced one that was never ready', async () => {
    expect(await launchAfter({ command: '/bin/false', args: [] })).toEqual({ kind: 'exited', code: 7 })
  })

  test('is not replaced if it was ready before it died, even if its message arrives late', async () => {
    const dying = { command: '/bin/sh', args: ['-c', '(sleep 0.3; echo ready) & exit 1'] }
    expect(await launchAfter(dying)).toMatchObject({ kind: 'lost' })
  })

  test('leaves no process of commands that are cancelled at any moment of their start', async () => {
    const runner = await open()
    const word = token()
    for (let waitMs = 0; waitMs < 30; waitMs += 1) {
      const cancel = new AbortController()
      const outcome = runner.run(
        { argv: ['sleep', word], env, graceMs: 0 },
        { signal: cancel.signal, onStart: () => cancel.abort() },
      )
      setTimeout(() => cancel.abort(), waitMs)
      expect(await outcome).toMatchObject({ kind: 'cancelled' })
      expect(alive(word)).toEqual([])
    }
    await runner[Symbol.asyncDispose]()
  })

  test('reports each command as started before its end, however short it is', async () => {
    const runner = await open()
    const calls = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const seen: string[] = []
        const onStart = () => void seen.push('start')
        const { text } = await run(runner, 'echo $$', { onStart })
        return [...seen, text !== '']
      }),
    )
    expect(calls).toEqual(Array.from({ length: 50 }, () => ['start', true]))
    await runner[Symbol.asyncDispose]()
  })

  test('delivers the output of a short command to a slow receiver before its outcome', async () => {
    const runner = await open()
    let received = 0
    const onOutput = async (_: string, chunk: Buffer): Promise<void> => {
      await new Promise((resolve) => setTimeout(resolve, 30))
      received += chunk.length
    }
    await run(runner, 'head -c 60000 /dev/zero', { onOutput })
    expect(received).toBe(60_000)
    await runner[Symbol.asyncDispose]()
  })

  test('ignores signals that are sent to the whole process group', async () => {
    const runner = await open()
    await run(runner, 'true')
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
      process.kill(provider?.launcherPid ?? 0, signal)
    expect((await run(runner, 'echo still')).text).toBe('still\n')
    await runner[Symbol.asyncDispose]()
  })

  test('ends, with its pipes, when the provider is closed', async () => {
    const runner = await open()
    await run(runner, 'true')
    const pid = provider?.launcherPid
    await runner[Symbol.asyncDispose]()
    await provider?.[Symbol.asyncDispose]()
    await expect(stat(`/proc/${pid}`)).rejects.toThrow('ENOENT')
  })

  test('creates its pipes again after they were deleted', async () => {
    const runner = await open()
    await run(runner, 'true')
    const command = await readFile(`/proc/${provider?.launcherPid}/cmdline`, 'utf8')
    await rm(command.split('\0').find((part) => part.includes('scanfarm-pipes-')) ?? '', { recursive: true })
    expect((await run(runner, 'echo still')).text).toBe('still\n')
    await runner[Symbol.asyncDispose]()
  })

  test('gives commands named pipes, so that they can open /dev/stdout', async () => {
    const runner = await open()
    expect(
      (await run(runner, 'echo one >/dev/stdout; echo two >>/dev/stderr')).text.split('\n').sort(),
    ).toEqual(['', 'one', 'two'])
    await runner[Symbol.asyncDispose]()
  })

  test('passes neither its own connection nor the pipes of other commands on to commands', async () => {
    const runner = await open()
    const other = run(runner, 'sleep 1000')
    const { text } = await run(runner, 'for fd in /proc/$$/fd/*; do readlink $fd; done')
    expect(text.match(/socket:|scanfarm-pipes/g)).toEqual(['scanfarm-pipes', 'scanfarm-pipes'])
    await runner[Symbol.asyncDispose]()
    expect((await other).outcome.kind).toBe('cancelled')
  })

  test('reports a command line that is too long as not started', async () => {
    const runner = await open()
    const { outcome } = await run(runner, `: ${'x'.repeat(200_000)}`)
    expect(outcome).toEqual({
      kind: 'not-started',
      reason: expect.stringContaining('argument list too long'),
    })
    expect((await run(runner, 'echo on')).text).toBe('on\n')
    await runner[Symbol.asyncDispose]()
  })

  test('starts and refuses each command of a group by itself', async () => {
    const program = join(folder, 'by-name')
    await writeFile(program, 'echo "$1 by name"\n')
    await chmod(program, 0o755)
    const runner = await open()
    const { signal } = new AbortController()
    // Requests of one turn of the event loop reach the launcher together.
    const outcomes = await Promise.all(
      [
        ['/bin/echo', 'first'],
        [join(folder, 'missing')],
        ['by-name', 'third'],
        ['missing-by-name'],
        ['/bin/echo', 'x'.repeat(3_000_000)],
        ['/bin/sh', '-c', 'echo sixth; exit 6'],
      ].map(async (argv) => {
        let text = ''
        const onOutput = (_: string, chunk: Buffer): void => void (text += chunk.toString())
        const outcome = await runner.run(
          { argv, env: { PATH: `${folder}:${env.PATH}` } },
          { signal, onOutput },
        )
        return outcome.kind === 'exited' ? [outcome.code, text] : outcome
      }),
    )
    const refused = (reason: string) => ({ kind: 'not-started', reason: expect.stringContaining(reason) })
    expect(outcomes).toEqual([
      [0, 'first\n'],
      refused('does not exist'),
      [0, 'third by name\n'],
      refused('was not found in PATH'),
      refused('argument list too long'),
      [6, 'sixth\n'],
    ])
    await runner[Symbol.asyncDispose]()
  })

  test('reports a program name that contains a NUL as not started', async () => {
    const runner = await open()
    const outcome = await runner.run({ argv: ['a\0b'], env }, { signal: new AbortController().signal })
    expect(outcome.kind).toBe('not-started')
    await runner[Symbol.asyncDispose]()
  })

  test('runs commands as another user, who can use its output and the run folder, only as root', async () => {
    const isRoot = process.getuid?.() === 0
    const opened = open({ user: { uid: 65534, gid: 65534 } })
    if (!isRoot) return await expect(opened).rejects.toThrow('EPERM')
    const runner = await opened
    const { text, outcome } = await run(runner, 'id -u; id -G; echo x >/dev/stdout; echo y >file')
    expect({ text, outcome }).toEqual({ text: '65534\n65534\nx\n', outcome: { kind: 'exited', code: 0 } })
    expect((await stat(join(folder, 'file'))).uid).toBe(65534)
    await runner[Symbol.asyncDispose]()
  })

  test('reports lack of memory as a possible reason of a SIGKILL', async () => {
    const runner = await open()
    const { outcome } = await run(runner, 'kill -KILL $$')
    expect(outcome).toEqual({
      kind: 'signalled',
      signal: 'SIGKILL',
      reason: expect.stringContaining('memory'),
    })
    await runner[Symbol.asyncDispose]()
  })

  test('keeps the output of a hundred concurrent commands apart and does not run out of pipes', async () => {
    const runner = await open()
    const descriptors = async () => (await readdir('/proc/self/fd')).length
    const before = await descriptors()
    const texts = await Promise.all(
      Array.from({ length: 100 }, async (_, index) => (await run(runner, `echo ${index}`)).text),
    )
    expect(texts).toEqual(Array.from({ length: 100 }, (_, index) => `${index}\n`))
    expect((await descriptors()) - before).toBeLessThan(100)
    await runner[Symbol.asyncDispose]()
  })
})

describe('named pipes', () => {
  const pathsIn = (pool: PipePool): string[] => ['a', 'b'].map((name) => join(pool.folder, name))
  const prepared = async (pool: PipePool): Promise<string[]> => {
    await mkdir(pool.folder, { mode: 0o700 })
    return pathsIn(pool)
  }

  test('are made by the launcher in Perl, open to all users whatever its umask', async () => {
    await using pool = new PipePool()
    const programs = launcherPrograms('perl').map((program) => bounded(program, { umask: '077' }))
    await using client = new LauncherClient(programs, pool.folder)
    const paths = await prepared(pool)
    expect(await client.makePipes(paths)).toBe(true)
    for (const path of paths) {
      const found = await lstat(path)
      expect([found.isFIFO(), found.mode & 0o777]).toEqual([true, 0o666])
    }
    expect(await client.makePipes(paths)).toBe(false)
  })

  test('are not made by the one in Node, nor by one that ends', async () => {
    await using pool = new PipePool()
    const paths = await prepared(pool)
    await using node = new LauncherClient(launcherPrograms('node'), pool.folder)
    expect(await node.makePipes(paths)).toBe(false)
    const ending = { command: '/bin/false', args: [], env: {} }
    await using other = new LauncherClient([ending, ...launcherPrograms('perl')], pool.folder)
    expect(await other.makePipes(paths)).toBe(false)
  })

  test('are made by mkfifo where the launcher failed, also after it made some', async () => {
    const asked: string[][] = []
    await using pool = new PipePool(async (paths) => {
      asked.push([...paths])
      await promisify(execFile)('mkfifo', paths.slice(0, 1))
      return false
    })
    const pipe = await pool.open()
    expect((await lstat(pipe.path)).mode & 0o777).toBe(0o666)
    expect((await lstat(asked[0]?.[0] ?? '')).mode & 0o777).toBe(0o666)
    await pool.closeAndRelease(pipe, true)
  })
})

describe('orphans of commands', () => {
  test('are adopted by the launcher in Perl, which reports whether there are any', async () => {
    await using pool = new PipePool()
    await using client = new LauncherClient(launcherPrograms('perl'), pool.folder)
    const word = token()
    const mayLeaveOrphans = async (marker: string, script: string): Promise<boolean> => {
      const [stdout, stderr] = [await pool.open(), await pool.open()]
      const request = { ...sh(script), cwd: '/', stdout: stdout.path, stderr: stderr.path, marker }
      const launched = await client.launch(request)
      if (launched.kind === 'started') await launched.ended
      for (const pipe of [stdout, stderr]) await pool.closeAndRelease(pipe, false)
      return client.mayHaveOrphans(marker)
    }
    const leave = `(setsid sleep ${word} </dev/null >/dev/null 2>&1 &)`
    expect(await mayLeaveOrphans('first', 'true')).toBe(false)
    expect(await mayLeaveOrphans('second', leave)).toBe(true)
    await until(() => alive(word).length > 0)
    expect(await mayLeaveOrphans('third', 'true')).toBe(true)
    for (const pid of alive(word)) {
      expect(await readFile(`/proc/${pid}/stat`, 'utf8')).toMatch(new RegExp(`\\) \\S ${client.pid} `))
      process.kill(pid, 'SIGKILL')
    }
    await until(async () => !(await mayLeaveOrphans('third', 'true')))
    expect(client.mayHaveOrphans('second')).toBe(true)
    client.forget('second')
    expect(client.mayHaveOrphans('second')).toBe(false)
  })
})
