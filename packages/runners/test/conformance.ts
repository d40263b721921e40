import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Command, Outcome, OutputStream, Runner, RunnerProvider, RunnerSpec } from '@scanfarm/contracts'
import { alive, token, until } from './processes.ts'

/** One place to run commands, made once for the whole suite. */
export interface RunnerSubject extends AsyncDisposable {
  readonly provider: RunnerProvider
  readonly spec: RunnerSpec
  /** Folder in which the suite makes the folders of its runs. */
  readonly root: string
  /** Variables which the place itself gives to every command. */
  readonly ambient: readonly string[]
  /** False where the place tells a death by signal only as an exit code above 128. */
  readonly tellsSignals: boolean
}

interface Seen {
  readonly outcome: Outcome
  readonly stdout: string
  readonly stderr: string
  readonly pid: number | undefined
}

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
const NEVER = new AbortController().signal
const BIG = 100 * 1024 * 1024
/** What reading may hold at most: buffers in use and those which the collector has not taken back yet. */
const FLAT = 96 * 1024 * 1024
const sh = (script: string, ...args: string[]): Command => ({
  argv: ['sh', '-c', script, 'sh', ...args],
  env: { PATH },
})

async function see(runner: Runner, command: Command, signal: AbortSignal = NEVER): Promise<Seen> {
  const chunks: Record<OutputStream, Buffer[]> = { stdout: [], stderr: [] }
  let pid: number | undefined
  const outcome = await runner.run(command, {
    signal,
    onOutput: (stream, chunk) => void chunks[stream].push(chunk),
    onStart: (started) => (pid = started),
  })
  const text = (stream: OutputStream): string => Buffer.concat(chunks[stream]).toString()
  return { outcome, stdout: text('stdout'), stderr: text('stderr'), pid }
}

/** Runs a command until its output holds `word`, then cancels it. */
async function cancelAfter(runner: Runner, command: Command, word: string): Promise<Outcome> {
  const cancel = new AbortController()
  let seen = ''
  return await runner.run(command, {
    signal: cancel.signal,
    onOutput(_, chunk) {
      seen += chunk.toString()
      if (seen.includes(word)) cancel.abort()
    },
  })
}

/** What every runner promises, on host, docker and ssh alike. */
export function runnerConformance(name: string, make: () => Promise<RunnerSubject>): void {
  describe(`${name} runner`, () => {
    let subject: RunnerSubject
    let folder: string
    let runner: Runner
    let opened = 0

    const open = (): Promise<Runner> =>
      subject.provider.open(subject.spec, {
        runUuid: crypto.randomUUID(),
        attempt: 1,
        folder,
        marker: `conformance-${process.pid}-${++opened}`,
        signal: NEVER,
        log: () => {},
      })

    beforeAll(async () => {
      subject = await make()
      folder = await mkdtemp(join(subject.root, 'rün '))
      runner = await open()
    })
    afterAll(async () => {
      await runner?.[Symbol.asyncDispose]()
      await subject?.[Symbol.asyncDispose]()
      if (folder !== undefined) await rm(folder, { recursive: true, force: true })
    })

    describe('what a program tells', () => {
      test.each([0, 1, 42, 255])('exit code %i is reported as it is', async (code) => {
        expect((await see(runner, sh(`exit ${code}`))).outcome).toEqual({ kind: 'exited', code })
      })

      test('a program that dies by a signal is reported so', async () => {
        const { outcome } = await see(runner, sh('kill -TERM $$'))
        expect(outcome).toEqual(
          subject.tellsSignals ? { kind: 'signalled', signal: 'SIGTERM' } : { kind: 'exited', code: 143 },
        )
      })

      test('each stream arrives whole and in order', async () => {
        const numbers = Array.from({ length: 2_000 }, (_, index) => index)
        const { stdout, stderr } = await see(
          runner,
          sh('i=0; while [ $i -lt 2000 ]; do echo $i; echo $i >&2; i=$((i+1)); done'),
        )
        expect(stdout.trim().split('\n').map(Number)).toEqual(numbers)
        expect(stderr.trim().split('\n').map(Number)).toEqual(numbers)
      })

      test('output that ends without a line break is complete', async () => {
        expect((await see(runner, sh('printf last'))).stdout).toBe('last')
      })

      test('bytes that are not UTF-8 arrive unchanged', async () => {
        const chunks: Buffer[] = []
        await runner.run(sh("printf '\\377\\000\\200'"), {
          signal: NEVER,
          onOutput: (_, chunk) => void chunks.push(chunk),
        })
        expect(Buffer.concat(chunks)).toEqual(Buffer.from([0xff, 0, 0x80]))
      })

      test('100 MB pass in flat memory, and a slow receiver makes the program wait', async () => {
        const gate = Promise.withResolvers<void>()
        let bytes = 0
        let finished = false
        const before = process.memoryUsage().rss
        let most = before
        const outcome = runner.run(sh(`head -c ${BIG} /dev/zero; echo finished >&2`), {
          signal: NEVER,
          onOutput(stream, chunk) {
            if (stream === 'stderr') finished = true
            else bytes += chunk.length
            most = Math.max(most, process.memoryUsage().rss)
            return gate.promise
          },
        })
        await until(() => bytes > 0)
        const first = bytes
        for (let index = 0; index < 3; index += 1) await see(runner, sh('true'))
        expect({ bytes, finished }).toEqual({ bytes: first, finished: false })
        gate.resolve()
        expect(await outcome).toEqual({ kind: 'exited', code: 0 })
        expect({ bytes, finished }).toEqual({ bytes: BIG, finished: true })
        expect(most - before).toBeLessThan(FLAT)
      })

      test('a failing receiver ends the command and is reported as the bug it is', async () => {
        const word = token()
        const run = runner.run(sh(`echo go; exec sleep ${word}`), {
          signal: NEVER,
          onOutput: () => Promise.reject(new Error('cannot receive')),
        })
        await expect(run).rejects.toThrow('cannot receive')
        expect(await alive(word)).toEqual([])
      })
    })

    describe('what a program is given', () => {
      test('stdin is at its end', async () => {
        expect(await see(runner, sh('cat; echo end'))).toMatchObject({ stdout: 'end\n' })
      })

      test('the environment is the one given and nothing of this process', async () => {
        process.env['SCANFARM_CONFORMANCE_SECRET'] = 'secret'
        const given = {
          PATH,
          EMPTY: '',
          QUOTES: `a 'b' "c" $HOME \`d\` \\`,
          LINES: '1=2',
          GRÖSSE: 'größer ✓',
        }
        const { stdout } = await see(runner, { argv: ['env'], env: given })
        const seen = Object.fromEntries(
          stdout
            .trim()
            .split('\n')
            .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
        )
        expect(seen['SCANFARM_MARKER']).toMatch(/^conformance-/)
        for (const name of ['SCANFARM_MARKER', ...subject.ambient]) if (!(name in given)) delete seen[name]
        expect(seen).toEqual(given)
      })

      test('a value of several lines arrives whole', async () => {
        const command = { ...sh('printf %s "$TEXT"'), env: { PATH, TEXT: 'one\ntwo\n' } }
        expect((await see(runner, command)).stdout).toBe('one\ntwo\n')
      })

      test('arguments reach the program untouched by any shell', async () => {
        const words = [
          '$HOME',
          '*',
          'a b',
          "it's",
          '"',
          '\\',
          '',
          'größer ✓ 日本',
          '-n',
          '$(id)',
          '`id`',
          ';',
          'two\nlines',
        ]
        const { stdout } = await see(runner, { argv: ['printf', '%s|', ...words], env: { PATH } })
        expect(stdout).toBe(words.map((word) => `${word}|`).join(''))
      })

      test("it works in the run's folder unless another is named", async () => {
        expect((await see(runner, sh('pwd'))).stdout).toBe(`${folder}\n`)
        expect((await see(runner, { ...sh('pwd'), cwd: '/' })).stdout).toBe('/\n')
      })

      test('its pid is told as soon as it runs', async () => {
        const { pid, stdout } = await see(runner, sh('echo $$'))
        expect(`${pid}\n`).toBe(stdout)
      })

      test("files of the run's folder are brought there and back", async () => {
        await mkdir(join(folder, 'deep'), { recursive: true })
        await writeFile(join(folder, 'deep', 'in put.txt'), 'hello')
        await runner.push(join(folder, 'deep'), NEVER)
        expect(
          (await see(runner, sh('cat "deep/in put.txt" && tr a-z A-Z <"deep/in put.txt" >out'))).outcome,
        ).toEqual({
          kind: 'exited',
          code: 0,
        })
        await runner.pull(join(folder, 'out'), NEVER)
        expect(await readFile(join(folder, 'out'), 'utf8')).toBe('HELLO')
      })
    })

    describe('what never ran', () => {
      test('a missing program is named', async () => {
        const { outcome, pid } = await see(runner, { argv: ['scanfarm-no-such-program', 'x'], env: { PATH } })
        expect(outcome).toEqual({
          kind: 'not-started',
          reason: expect.stringContaining('scanfarm-no-such-program'),
        })
        expect(pid).toBeUndefined()
      })

      test('a missing folder is named', async () => {
        const { outcome } = await see(runner, { ...sh('true'), cwd: '/no/such/folder' })
        expect(outcome).toEqual({ kind: 'not-started', reason: expect.stringContaining('/no/such/folder') })
      })

      test('a file that may not be executed is named', async () => {
        const { outcome } = await see(runner, { argv: ['/etc/passwd'], env: { PATH } })
        expect(outcome).toEqual({ kind: 'not-started', reason: expect.stringContaining('/etc/passwd') })
      })

      test('a command that was cancelled before it began never runs', async () => {
        const { outcome, pid } = await see(runner, sh('echo ran'), AbortSignal.abort())
        expect(outcome).toEqual({ kind: 'cancelled', killed: [] })
        expect(pid).toBeUndefined()
      })
    })

    describe('stop means stop', () => {
      test('a command that takes too long is killed and its pids are reported', async () => {
        const word = token()
        const { outcome, pid } = await see(runner, { ...sh(`exec sleep ${word}`), timeoutMs: 200 })
        expect(outcome).toEqual({ kind: 'timed-out', killed: expect.arrayContaining([pid]) })
        expect(await alive(word)).toEqual([])
      })

      test('a cancelled command is killed and its pids are reported', async () => {
        const word = token()
        const outcome = await cancelAfter(runner, sh(`sleep ${word} & echo go; wait`), 'go')
        expect(outcome).toEqual({ kind: 'cancelled', killed: expect.anything() })
        expect(outcome.kind === 'cancelled' && outcome.killed.length).toBeGreaterThanOrEqual(2)
        expect(await alive(word)).toEqual([])
      })

      test('TERM comes first, and what is said on it still arrives', async () => {
        const cancel = new AbortController()
        let seen = ''
        const outcome = await runner.run(
          { ...sh("trap 'echo bye; exit 3' TERM; echo go; while :; do sleep 0.05; done"), graceMs: 5_000 },
          {
            signal: cancel.signal,
            onOutput(stream, chunk) {
              if (stream === 'stdout') seen += chunk.toString()
              if (seen === 'go\n') cancel.abort()
            },
          },
        )
        expect(outcome.kind).toBe('cancelled')
        expect(seen).toBe('go\nbye\n')
      })

      test('a command that was cancelled while it was being started leaves nothing', async () => {
        const word = token()
        const cancel = new AbortController()
        const outcome = runner.run(sh(`exec sleep ${word}`), { signal: cancel.signal })
        cancel.abort()
        expect((await outcome).kind).toBe('cancelled')
        expect(await alive(word)).toEqual([])
      })

      test('two commands run at once, and cancelling one leaves the other alone', async () => {
        const word = token()
        const cancel = new AbortController()
        const other = see(runner, sh(`echo go; sleep ${word}; echo unreached`), cancel.signal)
        await until(async () => (await alive(word)).length > 0)
        expect((await cancelAfter(runner, sh('echo go; sleep 1000'), 'go')).kind).toBe('cancelled')
        expect(await alive(word)).not.toEqual([])
        expect((await see(runner, sh('echo mine'))).stdout).toBe('mine\n')
        cancel.abort()
        expect(await other).toMatchObject({ outcome: { kind: 'cancelled' }, stdout: 'go\n' })
      })
    })

    describe('nothing is left behind', () => {
      const runaways: Record<string, (word: string) => string> = {
        'a child': (word) => `sleep ${word} & echo go; wait`,
        'a child that was forked twice': (word) => `( ( sleep ${word} & ) & ); echo go; sleep 1000`,
        'a child that ignores TERM': (word) => `trap '' TERM; sleep ${word} & echo go; wait`,
        'a child with a session of its own': (word) => `setsid sleep ${word} & echo go; sleep 1000`,
        'a daemon: forked twice, own session, no output, TERM ignored': (word) =>
          `( trap '' TERM; setsid sh -c 'sleep ${word} & exec sleep ${word}' </dev/null >/dev/null 2>&1 & ); echo go; sleep 1000`,
      }

      test.each(Object.entries(runaways))('of a cancelled command: %s', async (_, script) => {
        const word = token()
        const outcome = await cancelAfter(runner, { ...sh(script(word)), graceMs: 200 }, 'go')
        expect(outcome.kind).toBe('cancelled')
        expect(await alive(word)).toEqual([])
      })

      test('of a command that ended: a child in the background', async () => {
        const word = token()
        const { outcome, stdout } = await see(runner, sh(`sleep ${word} & echo go`))
        expect({ outcome, stdout }).toEqual({ outcome: { kind: 'exited', code: 0 }, stdout: 'go\n' })
        expect(await alive(word)).toEqual([])
      })

      test('of a command that ended: a child elsewhere which holds its output', async () => {
        const word = token()
        const { outcome } = await see(runner, sh(`setsid sleep ${word} & echo go; exit 7`))
        expect(outcome).toEqual({ kind: 'exited', code: 7 })
        expect(await alive(word)).toEqual([])
      })

      test('of a closed runner: a daemon of a command that ended', async () => {
        const word = token()
        const other = await open()
        await see(other, sh(`setsid sleep ${word} </dev/null >/dev/null 2>&1 & echo go`))
        await other[Symbol.asyncDispose]()
        expect(await alive(word)).toEqual([])
      })

      test('of a closed runner: a command that still ran', async () => {
        const word = token()
        const other = await open()
        const outcome = other.run({ ...sh(`sleep ${word}; true`), graceMs: 100 }, { signal: NEVER })
        await until(async () => (await alive(word)).length > 0)
        await other[Symbol.asyncDispose]()
        expect((await outcome).kind).toBe('cancelled')
        expect(await alive(word)).toEqual([])
      })

      test('a writer that ends shortly after its command is not cut off', async () => {
        const { stdout } = await see(runner, sh('( sleep 0.1; echo late ) & echo early'))
        expect(stdout).toBe('early\nlate\n')
      })
    })
  })
}
