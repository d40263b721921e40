import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readConfig, silentLogger } from '@scanfarm/platform'
import { openRunQueue, type QueueBackend, type RunQueue } from '@scanfarm/queue'
import { postgresBackend, redisBackend } from '@scanfarm/queue/testing'
import type { JobDraft } from '@scanfarm/store'
import { linkPrograms, until } from '@scanfarm/testing'
import { SETTINGS, type WorkerConfig } from '../../src/settings/settings.ts'
import { bash, ENDED, jobDraft, openRuns, submitJob, type Runs } from './runs.ts'

/** Takes the part of a master for workers under test: queues, sends and reaps when a test calls it. */
export interface TestCluster extends Runs, AsyncDisposable {
  readonly queue: RunQueue
  /** Environment of a worker of this cluster. */
  env(changes?: Readonly<Record<string, string>>): Record<string, string>
  config(changes?: Readonly<Record<string, string>>): WorkerConfig
  /** Queues a distributed job and sends its messages; resolves to the ids of the runs in order. */
  submit(
    steps: readonly { readonly name: string; readonly command: string }[],
    targets: readonly string[],
    job?: Partial<JobDraft>,
  ): Promise<number[]>
  /** Sends the rows of the outbox that are ready. */
  dispatch(): Promise<void>
  /** Takes turns of the reaper until a run is lost. */
  reapUntilOneIsLost(leaseMs: number): Promise<true>
  /** Starts a worker process, by the command `wrapper`. */
  spawnWorker(changes?: Readonly<Record<string, string>>, wrapper?: readonly string[]): Promise<WorkerProcess>
  /** Content of a file in the workspace of a target, when it ends with a line break. */
  written(target: string, name: string): Promise<string>
}

export interface WorkerProcess extends AsyncDisposable {
  readonly pid: number
  send(signal: NodeJS.Signals): void
  /** Exit code, or the name of the signal. */
  readonly ended: Promise<number | string>
  output(): string
}

const CAPACITY = { critical: 10_000, high: 10_000, normal: 10_000, low: 10_000 }

export async function openTestCluster(queueKind: QueueBackend['kind'] = 'redis'): Promise<TestCluster> {
  await using scope = new AsyncDisposableStack()
  const runs = await openRuns(scope)
  const { folder, store, databaseUrl } = runs
  const { backend } = scope.use(await (queueKind === 'redis' ? redisBackend() : postgresBackend()))
  // Workers find a queue on Postgres in their own database.
  const served = queueKind === 'redis' ? backend : { kind: queueKind, url: databaseUrl }
  const queue = scope.use(
    await openRunQueue(served, { farmId: await store.farmId(), role: 'master', log: silentLogger }),
  )
  await queue.check()
  const programs = await linkPrograms(join(folder, 'programs'))
  const env: TestCluster['env'] = (changes = {}) => ({
    DATABASE_URL: databaseUrl,
    ...(queueKind === 'redis' ? { REDIS_URL: served.url } : { SCANFARM_QUEUE: 'postgres' }),
    SCANFARM_DATA_DIR: join(folder, 'data'),
    SCANFARM_WORKER_NAME: 'under-test',
    SCANFARM_WORKER_SLOTS: '4',
    SCANFARM_RUNNER_USER: String(process.getuid?.() ?? 0),
    SCANFARM_RUNNER_PATH: programs,
    ...changes,
  })
  const dispatch = async (): Promise<void> => {
    const classes = await store.outbox.takeableClasses()
    const rows = await store.outbox.take({ classes, capacity: CAPACITY, limit: 10_000, staleMs: 10_000 })
    await queue.add(rows)
    await store.outbox.remove(rows)
  }
  const processes = scope.adopt(new Set<WorkerProcess>(), async (all) => {
    for (const worker of all) await worker[Symbol.asyncDispose]()
  })
  // A busy worker hands back runs that it has claimed ahead.
  const untilRun: Runs['until'] = (runId, condition) =>
    until(async () => {
      await dispatch()
      return await runs.run(runId)
    }, condition)
  const opened = scope.move()
  return {
    ...runs,
    until: untilRun,
    ended: (runId) => untilRun(runId, ({ status }) => ENDED.includes(status)),
    queue,
    env,
    config: (changes) => readConfig(SETTINGS, { env: env(changes) }),
    async submit(steps, targets, job = {}) {
      const root = { kind: 'module' as const, steps: steps.map(({ name, command }) => bash(name, command)) }
      const draft = jobDraft(root, { runMode: 'distributed', ...job })
      const runIds = await submitJob(
        store,
        draft,
        targets.map((target) => ({ target, workspace: target })),
      )
      await dispatch()
      return runIds
    },
    dispatch,
    reapUntilOneIsLost: (leaseMs) =>
      until(
        async () => {
          const { requeued, failed, cancelled } = await store.recovery.reapOnce({
            maxAttempts: 3,
            quarantineAfter: 2,
            leaseMs,
            limit: 100,
          })
          await dispatch()
          return requeued + failed + cancelled > 0 ? true : undefined
        },
        { what: 'the loss of a run' },
      ),
    async spawnWorker(changes, wrapper) {
      const worker = await startProcess(env(changes), wrapper)
      processes.add(worker)
      return worker
    },
    written: (target, name) =>
      until(
        async () => {
          const file = join(folder, 'data/work/workspaces', target, name)
          const content = await readFile(file, 'utf8').catch(() => '')
          return content.endsWith('\n') ? content : undefined
        },
        { what: `${name} of ${target}` },
      ),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

const PROGRAM = join(import.meta.dirname, '../../../../scripts/scanfarm')

const startProcess = async (
  env: Readonly<Record<string, string>>,
  wrapper: readonly string[] = [],
): Promise<WorkerProcess> => {
  const [program, ...args] = [...wrapper, PROGRAM, 'worker']
  const child: ChildProcess = spawn(program, args, {
    env: { ...env, PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
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
