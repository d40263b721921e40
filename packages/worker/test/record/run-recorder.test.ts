import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { collectArtifact, openArtifactStore } from '@scanfarm/artifacts'
import type { ArtifactStore, LogName, RunUpdate } from '@scanfarm/contracts'
import { LIVE_BLOCK_BYTES, liveBlockKey } from '@scanfarm/contracts'
import { until } from '@scanfarm/testing'
import { EXECUTOR_LIMITS, EXECUTOR_TIMES, type ExecutorLimits } from '../../src/slots/limits.ts'
import { attemptIds } from '../../src/record/row-values.ts'
import { RunRecorder } from '../../src/record/run-recorder.ts'

let base: string
let store: ArtifactStore
let folder: string
let recorder: RunRecorder
const stop = new AbortController()
const runUuid = randomUUID()

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'recorder-'))
  store = openArtifactStore({ kind: 'folder', folder: join(base, 'store'), fsync: false })
})
afterAll(() => rm(base, { recursive: true, force: true }))
beforeEach(async () => {
  folder = join(base, randomUUID())
  await mkdir(folder)
  recorder = open()
})
afterEach(async () => {
  await recorder[Symbol.asyncDispose]()
})

const open = (
  limits: Partial<ExecutorLimits> = {},
  artifacts = store,
  onLiveFailure?: (reason: string) => void,
) =>
  new RunRecorder({
    run: { runId: 7, attempt: 2, runUuid },
    artifacts,
    collect: collectArtifact,
    roots: [folder],
    folder,
    limits: { ...EXECUTOR_LIMITS, ...limits },
    times: { ...EXECUTOR_TIMES, artifactRetryMs: 0, retryFirstMs: 1 },
    signal: stop.signal,
    ...(onLiveFailure && { onLiveFailure }),
  })

const openStep = (key: string, seq = 1) =>
  recorder.stepOpened({
    key,
    seq,
    name: key,
    type: 'bash',
    module: '',
    command: 'true',
    startedAt: new Date(0),
  })
const closeStep = (key: string) =>
  recorder.stepClosed(
    {
      key,
      status: 'completed',
      errorMessage: '',
      exports: {},
      exitCode: 0,
      durationMs: 3.4,
      completedAt: new Date(4),
    },
    true,
  )
/** The next batch, which is marked as saved. */
const written = (): RunUpdate | undefined => {
  const batch = recorder.buffer.take()
  batch?.saved()
  return batch?.update
}
const contentOf = async (key: string) => {
  const found = await store.get(key)
  return found && text(found.body)
}

test('A short run is written in one update', () => {
  recorder.plan(1)
  openStep('a')
  recorder.currentPid(4711)
  void recorder.output('a', 'stdout', Buffer.from('out\n'))
  void recorder.output('a', 'stderr', Buffer.from('err\n'))
  recorder.currentPid(0)
  recorder.event({ topic: 'custom.seen', name: 'a', source: 'api', dataType: 'custom', data: { n: 1 } })
  closeStep('a')
  const update = written()
  expect(update).toMatchObject({
    runId: 7,
    attempt: 2,
    totalSteps: 1,
    completedSteps: 1,
    steps: [{ seq: 1, status: 'completed', output: 'out\nerr\n', durationMs: 3, exitCode: 0, logFile: '' }],
    events: [{ topic: 'custom.seen', data: '{"n":1}' }],
  })
  expect(update).not.toHaveProperty('currentPid')
  expect(written()).toBeUndefined()
})

test('Ids are derived from run, attempt and name, so that writing a batch twice makes its rows once', () => {
  openStep('a')
  const first = recorder.buffer.take()
  first?.failed()
  const second = recorder.buffer.take()
  expect(second?.update).toEqual(first?.update)
  expect(second?.update.steps?.[0]?.id).toMatch(
    /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  )
  expect(attemptIds(runUuid, 3).uuid('step', 'a')).not.toBe(second?.update.steps?.[0]?.id)
})

test('Changes that were not saved are in the next batch, together with newer ones', () => {
  openStep('a')
  const failed = recorder.buffer.take()
  void recorder.output('a', 'stdout', Buffer.from('late'))
  failed?.failed()
  expect(written()?.steps).toMatchObject([{ status: 'running', output: 'late' }])
  void recorder.output('a', 'stdout', Buffer.from('r'))
  const batch = recorder.buffer.take()
  void recorder.output('a', 'stdout', Buffer.from('!'))
  batch?.saved()
  expect(written()?.steps).toMatchObject([{ status: 'running', output: 'later!' }])
})

test('Output alone waits longer than other changes', () => {
  recorder = new RunRecorder({
    run: { runId: 1, attempt: 1, runUuid },
    artifacts: store,
    collect: collectArtifact,
    roots: [],
    folder,
    limits: EXECUTOR_LIMITS,
    times: { ...EXECUTOR_TIMES, flushMs: 0, outputFlushMs: 1e9 },
    signal: stop.signal,
  })
  openStep('a')
  expect(recorder.buffer.shouldFlush()).toBe(true)
  written()
  expect(recorder.buffer.shouldFlush()).toBe(false)
  void recorder.output('a', 'stdout', Buffer.from('x'))
  expect(recorder.buffer.shouldFlush()).toBe(false)
  closeStep('a')
  expect(recorder.buffer.shouldFlush()).toBe(true)
})

test('A large backlog is written in order in several batches, and completed_steps never runs ahead of the steps', () => {
  recorder = open({ batchItems: 4 })
  recorder.plan(6)
  for (let n = 1; n <= 6; n += 1) {
    openStep(`s${n}`, n)
    closeStep(`s${n}`)
    recorder.event({ topic: 'custom.seen', name: `${n}`, source: 'api', dataType: 'custom', data: n })
  }
  const first = recorder.buffer.take()
  expect(first?.last).toBe(false)
  expect(first?.update).toMatchObject({
    totalSteps: 6,
    steps: [{ seq: 1 }, { seq: 2 }, { seq: 3 }, { seq: 4 }],
  })
  expect(first?.update).not.toHaveProperty('completedSteps')
  first?.saved()
  const second = recorder.buffer.take()
  expect(second?.update).toMatchObject({
    completedSteps: 6,
    steps: [{ seq: 5 }, { seq: 6 }],
    events: [{}, {}],
  })
  second?.saved()
  const third = recorder.buffer.take()
  expect(third).toMatchObject({ last: true, update: { events: [{}, {}, {}, {}] } })
  third?.saved()
  expect(recorder.buffer.take()).toBeUndefined()
})

test('No further command may start while the write buffer has too many rows', async () => {
  recorder = open({ backlogItems: 2 })
  for (let n = 1; n <= 3; n += 1) openStep(`s${n}`, n)
  let free = false
  const capacity = recorder.buffer.waitForCapacity().then(() => (free = true))
  await setImmediate()
  expect(free).toBe(false)
  const batch = recorder.buffer.take()
  batch?.saved()
  await capacity
  expect(free).toBe(true)
})

test('Output that fits into its row has no log file', async () => {
  recorder = open({ tailBytes: 10 })
  openStep('a')
  void recorder.output('a', 'stdout', Buffer.from('0123456789'))
  closeStep('a')
  expect(await recorder.settle()).toBe('')
  expect(written()?.steps).toMatchObject([{ output: '0123456789', logFile: '' }])
  expect(await readdir(folder)).toEqual([])
})

test('Longer output has its tail in the row and all of it in the artifact store', async () => {
  recorder = open({ tailBytes: 10 })
  openStep('a', 3)
  for (const piece of ['first ', 'second ', 'third']) await recorder.output('a', 'stdout', Buffer.from(piece))
  closeStep('a')
  expect(await recorder.settle()).toBe('')
  const [step] = written()?.steps ?? []
  expect(step).toMatchObject({ output: 'cond third', logFile: `runs/${runUuid}/2/logs/3.log` })
  expect(await contentOf(step?.logFile ?? '')).toBe('first second third')
  expect(await readdir(folder)).toEqual([])
})

test('The log of a step is limited and ends with the number of dropped bytes', async () => {
  recorder = open({ tailBytes: 4, stepLogBytes: 1_000_000 })
  openStep('a', 1)
  for (let i = 0; i < 30; i += 1) await recorder.output('a', 'stdout', Buffer.alloc(100_000, 'x'))
  closeStep('a')
  expect(await recorder.settle()).toBe('')
  const log = await contentOf(`runs/${runUuid}/2/logs/1.log`)
  expect(log?.slice(0, 1_000_000)).toBe('x'.repeat(1_000_000))
  expect(log?.slice(1_000_000)).toBe(
    '\n[2000000 more bytes were dropped: the log of a step keeps 1000000 bytes]\n',
  )
})

test('Artifacts are uploaded, and refused ones are left out with a line in the log of the run', async () => {
  await writeFile(join(folder, 'good.json'), '{}\n')
  await symlink('/etc/passwd', join(folder, 'evil.txt'))
  recorder.artifact({ name: 'good', path: join(folder, 'good.json'), type: 'report', description: 'fine' })
  recorder.artifact({ name: 'evil', path: join(folder, 'evil.txt'), type: 'output', description: '' })
  expect(await recorder.settle()).toBe('')
  const { artifacts = [] } = written() ?? {}
  expect(artifacts).toMatchObject([
    { name: 'good', type: 'report', contentType: 'json', sizeBytes: 3, lineCount: 1, description: 'fine' },
    { type: 'state_file', contentType: 'log', lineCount: 1 },
  ])
  expect(await contentOf(artifacts[0]?.storeKey ?? '')).toBe('{}\n')
  expect(await contentOf(artifacts[1]?.storeKey ?? '')).toMatch(
    /^20.*Z WARN {2}artifact evil \(.*evil\.txt\) is left out: it is a symbolic link\n$/,
  )
})

test('A run has at most the configured number of artifacts', async () => {
  recorder = open({ artifacts: 2 })
  await writeFile(join(folder, 'a.txt'), 'a')
  for (let n = 0; n < 5; n += 1)
    recorder.artifact({ name: `a${n}`, path: join(folder, 'a.txt'), type: 'output', description: '' })
  await recorder.settle()
  expect(written()?.artifacts?.map((artifact) => artifact.name)).toEqual(['a0', 'a1', 'execution log'])
})

test('An artifact store that stays unavailable is a problem of the run that names the missing artifact', async () => {
  const away: ArtifactStore = { ...store, put: () => Promise.reject(new Error('no route to bucket')) }
  recorder = open({}, away)
  await writeFile(join(folder, 'a.txt'), 'a')
  recorder.artifact({ name: 'ports', path: join(folder, 'a.txt'), type: 'output', description: '' })
  expect(await recorder.settle()).toBe('artifact ports could not be stored: no route to bucket')
})

test('Output and ends of unknown or closed steps are ignored', () => {
  void recorder.output('none', 'stdout', Buffer.from('x'))
  closeStep('none')
  openStep('a')
  closeStep('a')
  closeStep('a')
  expect(written()).toMatchObject({ completedSteps: 1, steps: [{ name: 'a' }] })
})

test('The log of a run is limited and ends with the number of dropped lines', async () => {
  recorder = open({ runLogBytes: 100 })
  for (let n = 0; n < 10; n += 1) recorder.log('info', `line ${n}`)
  await recorder.settle()
  const log = await contentOf(`runs/${runUuid}/2/run-execution.log`)
  expect(log?.split('\n').at(-2)).toBe('8 more lines were dropped')
})

test('A line of the log of a run is cut, with the number of characters that are left out', async () => {
  recorder = open({ messageChars: 20 })
  recorder.log('warn', 'x'.repeat(1_000))
  await recorder.settle()
  const log = await contentOf(`runs/${runUuid}/2/run-execution.log`)
  expect(log).toMatch(/ x{20}… \(980 more characters\)\n$/)
})

test('A batch has a limited amount of text, and the next batch continues', () => {
  recorder = open({ batchChars: 1_000, tailBytes: 600 })
  for (const [index, key] of ['a', 'b', 'c'].entries()) {
    openStep(key, index + 1)
    void recorder.output(key, 'stdout', Buffer.alloc(600, 'x'))
    closeStep(key)
  }
  const first = recorder.buffer.take()
  expect(first?.update.steps).toMatchObject([{ name: 'a' }, { name: 'b' }])
  // The batch does not have all steps, so it has no count.
  expect([first?.last, first?.update.completedSteps]).toEqual([false, undefined])
  first?.saved()
  const second = recorder.buffer.take()
  expect(second?.update).toMatchObject({ completedSteps: 3, steps: [{ name: 'c' }] })
  expect(second?.last).toBe(true)
})

test('No further command may start while the write buffer has too much text', async () => {
  recorder = open({ backlogChars: 1_000, tailBytes: 2_000 })
  openStep('a')
  void recorder.output('a', 'stdout', Buffer.alloc(2_000, 'x'))
  let free = false
  const capacity = recorder.buffer.waitForCapacity().then(() => (free = true))
  await setImmediate()
  expect(free).toBe(false)
  const batch = recorder.buffer.take()
  batch?.saved()
  await capacity
})

test('Steps and events beyond their limits are counted and dropped, with one line each in the log of the run', async () => {
  recorder = open({ steps: 2, events: 2 })
  recorder.plan(4)
  for (let n = 1; n <= 4; n++) {
    openStep(`s${n}`, n)
    void recorder.output(`s${n}`, 'stdout', Buffer.from('x'))
    closeStep(`s${n}`)
    recorder.event({ topic: 'custom.seen', name: `e${n}`, source: 'api', dataType: 'custom', data: n })
  }
  await recorder.settle()
  const update = written()
  expect(update).toMatchObject({
    totalSteps: 4,
    completedSteps: 4,
    steps: [{ name: 's1' }, { name: 's2' }],
    events: [{ name: 'e1' }, { name: 'e2' }],
  })
  const log = await contentOf(update?.artifacts?.[0]?.storeKey ?? '')
  expect(log?.match(/rows for at most 2 steps/g)).toHaveLength(1)
  expect(log?.match(/at most 2 events/g)).toHaveLength(1)
})

test('Exports of a step are limited in number and total length, and names of events in length', () => {
  recorder = open({ exports: 3, exportChars: 10, allExportChars: 30, nameChars: 5 })
  openStep('a')
  recorder.stepClosed(
    {
      key: 'a',
      status: 'completed',
      errorMessage: '',
      exports: { a: 'x'.repeat(50), b: 'y', c: 'z', d: 'too many' },
      durationMs: 1,
      completedAt: new Date(4),
    },
    true,
  )
  recorder.event({ topic: 'custom.seen', name: 'long name', source: 'api', dataType: 'custom', data: 1 })
  const update = written()
  const [step] = update?.steps ?? []
  expect(step?.exports).toEqual({ b: 'y', c: 'z', '…': '2 more values' })
  expect(update?.events).toMatchObject([{ topic: 'custom.seen', name: 'long … (4 more characters)' }])
})

test('An artifact with the same bytes as a log of its run is stored once', async () => {
  const lines = Buffer.from('0123456789abcde\n'.repeat(4096))
  openStep('loud')
  await recorder.output('loud', 'stdout', lines)
  closeStep('loud')
  await writeFile(join(folder, 'same.txt'), lines)
  await writeFile(join(folder, 'other.txt'), 'other')
  for (const name of ['same', 'other'])
    recorder.artifact({
      name,
      path: join(folder, `${name}.txt`),
      type: 'output',
      contentType: 'txt',
      description: '',
    })
  expect(await recorder.settle()).toBe('')
  const update = recorder.buffer.take()?.update
  const log = update?.steps?.[0]?.logFile ?? ''
  const [same, other] = update?.artifacts ?? []
  expect(same).toMatchObject({ name: 'same', storeKey: log, sizeBytes: lines.length, lineCount: 4096 })
  const keys = (await Array.fromAsync(store.list(`runs/${runUuid}`))).map(({ key }) => key)
  expect(keys.filter((key) => key === log || key.endsWith('same.txt'))).toEqual([log])
  expect(keys).toContain(other?.storeKey)
})

/** The live copy of a log, as readers put it together. */
const liveOf = async (log: LogName): Promise<string> => {
  let found = ''
  for (;;) {
    const bytes = await contentOf(liveBlockKey(`runs/${runUuid}/2`, log, found.length))
    found += bytes ?? ''
    if (bytes === undefined || bytes.length < LIVE_BLOCK_BYTES) return found
  }
}
const objectsBelow = async (folder: string): Promise<string[]> =>
  (await Array.fromAsync(store.list(folder))).map(({ key }) => key)

test('Logs of a followed run are copied while they grow, and the copies are removed at its end', async () => {
  const puts: string[] = []
  const counted = { ...store, put: (key: string, body: Readable) => (puts.push(key), store.put(key, body)) }
  recorder = open({ tailBytes: 100, stepLogBytes: 10 * LIVE_BLOCK_BYTES }, counted)
  openStep('a')
  openStep('b', 2)
  const long = 'x'.repeat(2 * LIVE_BLOCK_BYTES + 5)
  await recorder.output('a', 'stdout', Buffer.from(long))
  recorder.log('info', 'begun')
  await until(() => recorder.buffer.shouldFlush(), { what: 'output is to be written' })
  expect(puts).toEqual([])

  recorder.follow(true)
  await until(async () => (await liveOf(1)) === long, { what: 'the output is copied' })
  await until(async () => (await liveOf('run')).endsWith(' INFO  begun\n'), { what: 'the log is copied' })
  const before = puts.length
  void recorder.output('a', 'stdout', Buffer.from('more'))
  void recorder.output('b', 'stdout', Buffer.from([0x61, 0xff]))
  await until(async () => (await liveOf(1)) === `${long}more`, { what: 'new output is copied' })
  await until(async () => (await liveOf(2)) === 'a\ufffd', { what: 'the output of the other step is copied' })
  expect(puts.length - before).toBe(2)

  closeStep('a')
  closeStep('b')
  expect(await recorder.settle()).toBe('')
  const logFiles = written()?.steps?.map(({ logFile }) => logFile) ?? []
  // The row cannot hold the bytes of the short output, and readers have counted them.
  expect(logFiles).toEqual([`runs/${runUuid}/2/logs/1.log`, `runs/${runUuid}/2/logs/2.log`])
  expect(await liveOf(1)).toBe('')
  await recorder[Symbol.asyncDispose]()
  await recorder.removeLiveLogs()
  expect(await objectsBelow(`runs/${runUuid}/2/live`)).toEqual([])
})

test('A live copy that arrives after its removal is removed at the end of the run', async () => {
  const [begun, removed, arrived] = Array.from({ length: 3 }, () => Promise.withResolvers<void>())
  const slow = {
    ...store,
    put: async (key: string, body: Readable) => {
      if (!key.includes('/live/')) return await store.put(key, body)
      begun?.resolve()
      await removed?.promise
      const stored = await store.put(key, body)
      arrived?.resolve()
      return stored
    },
    remove: async (key: string) => {
      await store.remove(key)
      removed?.resolve()
      await arrived?.promise
      // The recorder has noticed that the upload has ended.
      await setImmediate()
    },
  }
  recorder = open({}, slow)
  openStep('a')
  await recorder.output('a', 'stdout', Buffer.from([0x61, 0xff]))
  recorder.follow(true)
  await begun?.promise
  closeStep('a')
  expect(await recorder.settle()).toBe('')
  expect(await liveOf(1)).toBe('a\ufffd')
  await recorder[Symbol.asyncDispose]()
  await recorder.removeLiveLogs()
  expect(await objectsBelow(`runs/${runUuid}/2/live`)).toEqual([])
})

test('A store that fails delays the live copies and nothing else', async () => {
  const failures: string[] = []
  let broken = true
  const failing = {
    ...store,
    put: async (key: string, body: Readable) => {
      if (broken && key.includes('/live/')) throw new Error('the store is full')
      return await store.put(key, body)
    },
  }
  recorder = open({}, failing, (reason) => failures.push(reason))
  openStep('a')
  await recorder.output('a', 'stdout', Buffer.from('hello'))
  recorder.follow(true)
  await until(() => failures.length > 0, { what: 'the failure is reported' })
  broken = false
  await until(async () => (await liveOf(1)) === 'hello', { what: 'the output is copied after all' })
  expect(failures).toEqual(['the store is full'])
  closeStep('a')
  expect(await recorder.settle()).toBe('')
})
