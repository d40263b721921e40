import { randomUUID } from 'node:crypto'
import type { ClaimedRun, FindingContent, RunEnd, RunStore, RunUpdate, StepRecord } from '@scanfarm/contracts'
import type { TestServer } from './_server.ts'

export type RunOfWorker = ClaimedRun & { readonly workerId: string }

/** Joins like the local slots of a server and claims queued local runs. The oldest run comes first. */
export async function claimLocalRuns(runStore: RunStore, limit = 100): Promise<RunOfWorker[]> {
  const workerId = randomUUID()
  await runStore.join({
    workerId,
    name: 'test',
    hostname: 'test',
    pid: 1,
    version: '0',
    kind: 'server',
    slots: limit,
    capabilities: [],
    leaseMs: 60_000,
  })
  const runs = await runStore.claimLocal(workerId, limit)
  return runs.map((run) => ({ ...run, workerId })).sort((a, b) => a.runId - b.runId)
}

export const endRun = (
  runStore: RunStore,
  { runId, attempt }: ClaimedRun,
  end: Partial<RunEnd> = {},
  last: Partial<RunUpdate> = {},
): Promise<unknown> =>
  runStore.finish([
    {
      runId,
      attempt,
      status: 'completed',
      errorMessage: '',
      killedPids: [],
      ...end,
      last: { runId, attempt, ...last },
    },
  ])

/** A run of the module probe that finds these, after the scan is judged. Returns its UUID. */
export const scanOf = async (
  { operator, runStore, store }: TestServer,
  workspace: string,
  items: FindingContent[],
): Promise<string> => {
  const { body } = await operator
    .post('/api/runs')
    .send({ module: 'probe', target: 'a.example', workspace })
    .expect(202)
  const [run] = await claimLocalRuns(runStore)
  if (run === undefined) throw new Error('the run was not claimed')
  const records = { kind: 'vulnerability', items } as const
  await runStore.importRecords(run, { step: 'import', workspace, source: 'workflow', records, errors: 0 })
  await endRun(runStore, run)
  await store.scans.judge({ limit: 10, history: 10 })
  return body.run_uuid as string
}

export const stepRecord = (change: Partial<StepRecord> = {}): StepRecord => ({
  seq: 1,
  id: randomUUID(),
  name: 'hello',
  type: 'bash',
  module: '',
  status: 'completed',
  command: 'echo hello',
  output: 'hello\n',
  errorMessage: '',
  exports: { greeting: 'hello' },
  exitCode: 0,
  durationMs: 12,
  logFile: '',
  startedAt: new Date().toISOString(),
  completedAt: new Date().toISOString(),
  ...change,
})
