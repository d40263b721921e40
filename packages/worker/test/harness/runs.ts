import { createHash, randomUUID } from 'node:crypto'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunDetail, RunStore, Step as StepRow } from '@scanfarm/contracts'
import type { Step, Workflow } from '@scanfarm/language'
import type { JobDraft, Store } from '@scanfarm/store'
import { draft, testDatabase, type TestDatabase } from '@scanfarm/store/testing'
import { until } from '@scanfarm/testing'

/** Limit of a test or hook, in milliseconds. It only ends what hangs. */
export const TEST_MS = 240_000

/** A database and a folder; reads the runs in the database. */
export interface Runs {
  readonly folder: string
  readonly databaseUrl: string
  readonly sql: TestDatabase['sql']
  readonly store: Store
  readonly runStore: RunStore
  run(runId: number): Promise<RunDetail>
  steps(runId: number): Promise<StepRow[]>
  /** Resolves to the run when it satisfies the condition. */
  until(runId: number, condition: (run: RunDetail) => boolean): Promise<RunDetail>
  ended(runId: number): Promise<RunDetail>
}

export const ENDED = ['completed', 'failed', 'cancelled']

/** Closes with `scope`. */
export async function openRuns(scope: AsyncDisposableStack): Promise<Runs> {
  const folder = await mkdtemp(join(tmpdir(), 'worker-'))
  scope.defer(() => rm(folder, { recursive: true, force: true }))
  // Temporary folders are closed to other users, but a work folder must let them pass.
  await chmod(folder, 0o711)
  const { store, runStore, url, sql } = scope.use(await testDatabase())
  const run = async (runId: number): Promise<RunDetail> => {
    const found = await store.runs.find(String(runId))
    if (found === undefined) throw new Error(`run ${runId} does not exist`)
    return found
  }
  const untilRun: Runs['until'] = (runId, condition) => until(() => run(runId), condition)
  return {
    folder,
    databaseUrl: url,
    sql,
    store,
    runStore,
    run,
    steps: async (runId) => (await store.runs.steps(String(runId)))?.data ?? [],
    until: untilRun,
    ended: (runId) => untilRun(runId, ({ status }) => ENDED.includes(status)),
  }
}

/** Submits a job; resolves to the ids of its runs in the order of the rows. */
export async function submitJob(
  store: Store,
  draft: JobDraft,
  rows: Parameters<Store['jobs']['submit']>[1],
): Promise<number[]> {
  const answer = await store.jobs.submit(draft, rows)
  if (!('job' in answer)) throw new Error('the job was submitted before')
  const page = await store.runs.list({ jobId: answer.job.jobId }, { offset: 0, limit: 10_000 })
  return page.data.map(({ id }) => id).reverse()
}

/** A workflow with these fields, a module unless they say otherwise, as a master would pin it. */
export const pinned = (fields: Readonly<Record<string, unknown>>): Pick<JobDraft, 'workflow'> => {
  const root = { kind: 'module', name: 'under-test', ...fields }
  const json = JSON.stringify({ format: 1, root, modules: {} })
  return { workflow: { hash: createHash('sha256').update(json).digest('hex'), json } }
}

export const jobDraft = (root: Omit<Workflow, 'name'>, changes: Partial<JobDraft>): JobDraft =>
  draft({
    workflowName: 'under-test',
    workflowKind: root.kind,
    ...pinned({ ...root }),
    params: {},
    runMode: 'local',
    ...changes,
  })

/** A bash step. */
export const bash = (name: string, command: string, more: Partial<Step> = {}): Step => ({
  name,
  type: 'bash',
  command,
  ...more,
})

/** Shell text that waits until the file exists. */
export const waitFor = (file: string): string => `until [ -e ${file} ]; do sleep 0.02; done`

/** Whether a process exists and is not a zombie. */
export const isAlive = async (pid: number): Promise<boolean> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return stat !== '' && !/\) Z /.test(stat)
}

export const gone = (pid: number): Promise<true> =>
  until(async () => ((await isAlive(pid)) ? undefined : true), { what: `the end of process ${pid}` })

export const freshName = (): string => `${randomUUID()}.test`
