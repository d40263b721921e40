import { spawn, type ChildProcess } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunDetail } from '@scanfarm/contracts'
import { readConfig, silentLogger, type Config } from '@scanfarm/platform'
import { openRunQueue, type QueueBackend, type RunQueue } from '@scanfarm/queue'
import { postgresBackend, redisBackend } from '@scanfarm/queue/testing'
import type { JobDraft, Store } from '@scanfarm/store'
import { testDatabase } from '@scanfarm/store/testing'

export interface BashStep {
  readonly name: string
  readonly command: string
}

/** What a master would be to workers under test: it queues, sends and reaps when a test says so. */
export interface Bench extends AsyncDisposable {
  readonly folder: string
  readonly databaseUrl: string
  readonly store: Store
  readonly queue: RunQueue
  /** Environment of a worker of this farm. */
  env(changes?: Readonly<Record<string, string>>): Record<string, string>
  config(changes?: Readonly<Record<string, string>>): Config
  /** Queues a distributed job and sends its messages; resolves to the ids of the runs in order. */
  submit(steps: readonly BashStep[], targets: readonly string[], job?: Partial<JobDraft>): Promise<number[]>
  /** Sends what is ready in the outbox. */
  dispatch(): Promise<void>
  /** Lets the reaper take turns until it has taken away a run. */
  reapUntilOneIsLost(leaseMs: number): Promise<true>
  run(runId: number): Promise<RunDetail>
  until(runId: number, what: (run: RunDetail) => boolean): Promise<RunDetail>
  ended(runId: number): Promise<RunDetail>
  /** A module with these fields, as a master would pin it. */
  pinned(fields: Readonly<Record<string, unknown>>): Pick<JobDraft, 'workflow'>
  /** A worker as a process of its own, started by the words of `wrapper`. */
  spawnWorker(changes?: Readonly<Record<string, string>>, wrapper?: readonly string[]): Promise<WorkerProcess>
  /** Content of a file in the workspace of a target on `worker`'s machine, once it ends with a line break. */
  written(target: string, name: string): Promise<string>
}

export interface WorkerProcess extends AsyncDisposable {
  readonly pid: number
  send(signal: NodeJS.Signals): void
  /** Exit code, or the name of the signal. */
  readonly ended: Promise<number | string>
  output(): string
}

/** A machine with other work may take many seconds to start a program. */
const DEADLINE_MS = 60_000
/** Limit of a test or hook, in milliseconds: room for some waits. It only ends what hangs. */
export const TEST_MS = 240_000
const ROOM = { critical: 10_000, high: 10_000, normal: 10_000, low: 10_000 }

export const eventually = async <T>(what: string, look: () => Promise<T | undefined>): Promise<T> => {
  const deadline = performance.now() + DEADLINE_MS
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    if (performance.now() > deadline) throw new Error(`${what} did not come true in time`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

export async function openBench(queueKind: QueueBackend['kind'] = 'redis'): Promise<Bench> {
  await using scope = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'worker-'))
  scope.defer(() => rm(folder, { recursive: true, force: true }))
  const database = scope.use(await testDatabase())
  const { store } = database
  const { backend } = scope.use(await (queueKind === 'redis' ? redisBackend() : postgresBackend()))
  // Workers find a queue on Postgres in their own database.
  const served = queueKind === 'redis' ? backend : { kind: queueKind, url: database.url }
  const queue = scope.use(
    await openRunQueue(served, { farmId: await store.farmId(), role: 'master', log: silentLogger }),
  )
  await queue.check()
  const env: Bench['env'] = (changes = {}) => ({
    DATABASE_URL: database.url,
    ...(queueKind === 'redis' ? { REDIS_URL: served.url } : { SCANFARM_QUEUE: 'postgres' }),
    SCANFARM_DATA_DIR: join(folder, 'data'),
    SCANFARM_WORKER_NAME: 'under-test',
    SCANFARM_WORKER_SLOTS: '4',
    SCANFARM_RUNNER_USER: String(process.getuid?.() ?? 0),
    SCANFARM_LOG_FORMAT: 'json',
    ...changes,
  })
  const dispatch = async (): Promise<void> => {
    const classes = await store.outbox.takeableClasses()
    const rows = await store.outbox.take({ classes, room: ROOM, limit: 10_000, staleMs: 10_000 })
    await queue.add(rows)
    await store.outbox.remove(rows)
  }
  const run = async (runId: number): Promise<RunDetail> => {
    const found = await store.runs.find(String(runId))
    if (found === undefined) throw new Error(`there is no run ${runId}`)
    return found
  }
  const until: Bench['until'] = (runId, what) =>
    eventually(`the condition on run ${runId}`, async () => {
      const found = await run(runId)
      return what(found) ? found : undefined
    })
  const processes = scope.adopt(new Set<WorkerProcess>(), async (all) => {
    for (const worker of all) await worker[Symbol.asyncDispose]()
  })
  const opened = scope.move()
  return {
    folder,
    databaseUrl: database.url,
    store,
    queue,
    env,
    config: (changes) => readConfig({ env: env(changes) }),
    async submit(steps, targets, job = {}) {
      const rows = targets.map((target) => ({ target, workspace: target }))
      const answer = await store.jobs.submit(draft(steps, job), rows)
      if (!('job' in answer)) throw new Error('a kept answer came instead of a job')
      await dispatch()
      const page = await store.runs.list({ jobId: answer.job.jobId }, { offset: 0, limit: 10_000 })
      return page.data.map(({ id }) => id).reverse()
    },
    dispatch,
    reapUntilOneIsLost: (leaseMs) =>
      eventually('the loss of a run', async () => {
        const { requeued, failed, cancelled } = await store.recovery.reapOnce({
          maxAttempts: 3,
          quarantineAfter: 2,
          leaseMs,
          limit: 100,
        })
        await dispatch()
        return requeued + failed + cancelled > 0 ? true : undefined
      }),
    run,
    until,
    ended: (runId) => until(runId, ({ status }) => ['completed', 'failed', 'cancelled'].includes(status)),
    pinned,
    async spawnWorker(changes, wrapper) {
      const worker = await startProcess(env(changes), wrapper)
      processes.add(worker)
      return worker
    },
    written: (target, name) =>
      eventually(`${name} of ${target}`, async () => {
        const file = join(folder, 'data/work/workspaces', target, name)
        const content = await readFile(file, 'utf8').catch(() => '')
        return content.endsWith('\n') ? content : undefined
      }),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

const pinned = (fields: Readonly<Record<string, unknown>>): Pick<JobDraft, 'workflow'> => {
  const root = { kind: 'module', name: 'under-test', ...fields }
  const json = JSON.stringify({ format: 1, root, modules: {} })
  return { workflow: { hash: createHash('sha256').update(json).digest('hex'), json } }
}

const draft = (steps: readonly BashStep[], changes: Partial<JobDraft>): JobDraft => {
  const root = { kind: 'module', name: 'under-test', steps: steps.map((step) => ({ ...step, type: 'bash' })) }
  const json = JSON.stringify({ format: 1, root, modules: {} })
  return {
    workflowName: 'under-test',
    workflowKind: 'module',
    workflow: { hash: createHash('sha256').update(json).digest('hex'), json },
    params: {},
    priority: 'normal',
    runMode: 'distributed',
    runnerType: 'host',
    runnerGiven: false,
    dockerImage: '',
    sshHost: '',
    timeoutMinutes: null,
    concurrency: null,
    requirementClass: '',
    triggerType: 'manual',
    triggerName: '',
    scheduleId: '',
    eventEnvelope: '',
    ...changes,
  }
}

const PROGRAM = join(import.meta.dirname, 'worker-program.ts')

const startProcess = async (
  env: Readonly<Record<string, string>>,
  wrapper: readonly string[] = [],
): Promise<WorkerProcess> => {
  const words = [...wrapper, process.execPath, '--disable-warning=ExperimentalWarning', PROGRAM]
  const [program = '', ...args] = words
  const child: ChildProcess = spawn(program, args, {
    env: { ...env, PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => (output += text))
  const ended = once(child, 'exit').then(([code, signal]: (number | string | null)[]) => code ?? signal ?? '')
  await once(child, 'spawn')
  return {
    pid: child.pid ?? 0,
    send: (signal) => void child.kill(signal),
    ended,
    output: () => output,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

export const isAlive = async (pid: number): Promise<boolean> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return stat !== '' && !/\) Z /.test(stat)
}

export const gone = (pid: number): Promise<true> =>
  eventually(`the end of process ${pid}`, async () => ((await isAlive(pid)) ? undefined : true))

export const freshName = (): string => `${randomUUID()}.test`
