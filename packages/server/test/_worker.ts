import { randomUUID } from 'node:crypto'
import type { ClaimedRun, RunEnd, RunStore, RunUpdate, StepRecord } from '@scanfarm/contracts'

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
