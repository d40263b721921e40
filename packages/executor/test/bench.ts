import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { collectArtifact, openArtifactStore } from '@scanfarm/artifacts'
import type { ArtifactStore, RunDetail, RunStore, Step as StepRow } from '@scanfarm/contracts'
import { createHostRunners } from '@scanfarm/runners'
import type { JobDraft, Store } from '@scanfarm/store'
import { testDatabase } from '@scanfarm/store/testing'
import { targetSpace, type ResolvedWorkflow, type Step, type Workflow } from '@scanfarm/workflow'
import { createPolledSource, Executor, type ExecutorOptions } from '../src/index.ts'
import { silent } from './silent.ts'

export type Steps = Step[]

/** A real database, a real artifact store and real processes around executors under test. */
export interface Bench extends AsyncDisposable {
  readonly url: string
  readonly folder: string
  readonly store: Store
  readonly runStore: RunStore
  readonly artifacts: ArtifactStore
  /** Started; takes local runs. Disposed with the bench. */
  executor(changes?: Partial<ExecutorOptions> & { slots?: number; leaseMs?: number }): Executor
  /** Queues a local job with a run for each target; resolves to the ids of the runs in order. */
  submit(
    workflow: Steps | Omit<Workflow, 'name'>,
    options?: { targets?: readonly string[]; job?: Partial<JobDraft> },
  ): Promise<number[]>
  run(runId: number): Promise<RunDetail>
  steps(runId: number): Promise<StepRow[]>
  /** Resolves to the run as soon as it satisfies the condition. */
  until(runId: number, what: (run: RunDetail) => boolean): Promise<RunDetail>
  ended(runId: number): Promise<RunDetail>
  /** Makes an empty file in the workspace of a target, for a command that waits for it. */
  makeFile(target: string, name: string): Promise<void>
  /** Asks for its end and waits for it, so that no later test meets it in the queue. */
  cancelled(runId: number): Promise<RunDetail>
}

const ENDED = ['completed', 'failed', 'cancelled']
/** A machine with other work may take many seconds to start a program. */
const DEADLINE_MS = 60_000
/** Limit of a test or hook, in milliseconds: room for two waits. It only ends what hangs. */
export const TEST_MS = 150_000

export async function openBench(): Promise<Bench> {
  await using scope = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'executor-'))
  scope.defer(() => rm(folder, { recursive: true, force: true }))
  const database = scope.use(await testDatabase())
  const { store, runStore, url } = database
  const artifacts = openArtifactStore({ kind: 'folder', folder: join(folder, 'store'), fsync: false })
  const runners = scope.use(createHostRunners())
  const executors = scope.adopt(new Set<Executor>(), async (all) => {
    await Promise.all([...all].map((executor) => executor[Symbol.asyncDispose]()))
  })
  const run = async (runId: number): Promise<RunDetail> => {
    const found = await store.runs.find(String(runId))
    if (found === undefined) throw new Error(`there is no run ${runId}`)
    return found
  }
  const until: Bench['until'] = async (runId, what) => {
    let last = ''
    const look = async (): Promise<RunDetail | undefined> => {
      const found = await run(runId)
      last = `${found.status} ${found.error_message}`
      return what(found) ? found : undefined
    }
    return await eventually(look, () => `run ${runId} stays ${last}`)
  }
  const ended = (runId: number) => until(runId, ({ status }) => ENDED.includes(status))
  const opened = scope.move()
  return {
    url,
    folder,
    store,
    runStore,
    artifacts,
    executor({ slots = 4, leaseMs = 30_000, ...changes } = {}) {
      const executor = new Executor({
        store: runStore,
        source: createPolledSource({
          claim: (id, max) => (changes.store ?? runStore).claimLocal(id, max),
          pollMs: 20,
        }),
        artifacts,
        collect: collectArtifact,
        runners,
        intro: introduction(slots, leaseMs),
        folder: join(folder, 'work'),
        log: silent,
        ...changes,
      })
      executors.add(executor)
      executor.start()
      return executor
    },
    async submit(workflow, { targets = ['example.test'], job = {} } = {}) {
      const draft = jobOf(Array.isArray(workflow) ? { kind: 'module', steps: workflow } : workflow, job)
      const rows = targets.map((target) => ({ target, workspace: targetSpace(target) }))
      const answer = await store.jobs.submit(draft, rows)
      if (!('job' in answer)) throw new Error('a kept answer came instead of a job')
      const page = await store.runs.list({ jobId: answer.job.jobId }, { offset: 0, limit: 10_000 })
      return page.data.map(({ id }) => id).reverse()
    },
    run,
    steps: async (runId) => (await store.runs.steps(String(runId)))?.data ?? [],
    until,
    ended,
    makeFile: (target, name) => writeFile(join(folder, 'work/workspaces', target, name), ''),
    async cancelled(runId) {
      await store.runs.requestCancel(String(runId))
      return ended(runId)
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

/** What the look finds, as soon as it finds something. */
export async function eventually<T>(
  look: () => Promise<T | undefined>,
  otherwise = () => 'it did not come',
): Promise<T> {
  const deadline = performance.now() + DEADLINE_MS
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    if (performance.now() > deadline) throw new Error(otherwise())
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Shell text that waits until the file is there. */
export const waitFor = (file: string): string => `until [ -e ${file} ]; do sleep 0.02; done`

export const introduction = (slots: number, leaseMs: number): ExecutorOptions['intro'] => ({
  name: 'bench',
  hostname: 'bench',
  pid: process.pid,
  version: '1.0.0',
  kind: 'server',
  slots,
  capabilities: [],
  leaseMs,
})

const jobOf = (root: Omit<Workflow, 'name'>, changes: Partial<JobDraft>): JobDraft => {
  const resolved: ResolvedWorkflow = { format: 1, root: { ...root, name: 'under-test' }, modules: {} }
  const json = JSON.stringify(resolved)
  return {
    workflowName: 'under-test',
    workflowKind: root.kind,
    workflow: { hash: createHash('sha256').update(json).digest('hex'), json },
    params: {},
    priority: 'normal',
    runMode: 'local',
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

/** A bash step. */
export const bash = (name: string, command: string, more: Partial<Step> = {}): Step => ({
  name,
  type: 'bash',
  command,
  ...more,
})

/** Whether a process is there; a zombie is not. */
export const isAlive = async (pid: number): Promise<boolean> => {
  const { readFile } = await import('node:fs/promises')
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return stat !== '' && !/\) Z /.test(stat)
}
