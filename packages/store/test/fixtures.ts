import { randomUUID } from 'node:crypto'
import type {
  AssetContent,
  ClaimedRun,
  FindingContent,
  RunEnd,
  RunKey,
  RunStore,
  RunUpdate,
  StepRecord,
  WorkerIntro,
} from '@scanfarm/contracts'
import type { JobDraft, TargetDraft } from '../src/jobs/job-draft.ts'
import type { Store } from '../src/store.ts'
import type { EventDraft } from '../src/triggers/execution-plan.ts'
import { asSuperuser } from './database.ts'

export const draft = (changes: Partial<JobDraft> = {}): JobDraft => ({
  workflowName: 'probe',
  workflowKind: 'flow',
  workflow: { hash: 'hash-of-probe', json: '{"name":"probe"}' },
  params: { ports: '1-1024' },
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
})

export const eventDraft = (
  topic: string,
  data: object = {},
  changes: Partial<EventDraft> = {},
): EventDraft => ({
  topic,
  event_id: `evt_${randomUUID()}`,
  name: topic,
  source: 'api',
  data_type: 'custom',
  data: JSON.stringify(data),
  workspace: '',
  run_id: '',
  workflow_name: '',
  ...changes,
})

export const targets = (count: number, prefix = 'host'): TargetDraft[] =>
  Array.from({ length: count }, (_, n) => ({
    target: `${prefix}-${n}.test`,
    workspace: `${prefix}-${n}.test`,
  }))

export const worker = (changes: Partial<WorkerIntro> = {}): WorkerIntro => ({
  workerId: `worker-${randomUUID()}`,
  name: 'worker',
  hostname: 'host',
  pid: 4711,
  version: '1.0.0',
  kind: 'worker',
  slots: 8,
  capabilities: [],
  leaseMs: 60_000,
  ...changes,
})

/** Submits and returns the job id and the ids of its runs in order. */
export async function submitted(
  store: Store,
  changes: Partial<JobDraft> = {},
  list: readonly TargetDraft[] = targets(1),
  options: Parameters<Store['jobs']['submit']>[2] = {},
): Promise<{ jobId: string; runIds: number[] }> {
  const answer = await store.jobs.submit(draft(changes), list, options)
  if (!('job' in answer)) throw new Error('a kept answer came instead of a job')
  const { jobId } = answer.job
  const page = await store.runs.list({ jobId }, { offset: 0, limit: 10_000 })
  return { jobId, runIds: page.data.map((run) => run.id).reverse() }
}

export async function joined(runStore: RunStore, changes: Partial<WorkerIntro> = {}): Promise<string> {
  const intro = worker(changes)
  await runStore.join(intro)
  return intro.workerId
}

const CAPACITY = { critical: 100_000, high: 100_000, normal: 100_000, low: 100_000 }

/** Takes from the outbox as a dispatcher with a queue that has capacity. */
export const take = (store: Store, changes: Partial<Parameters<Store['outbox']['take']>[0]> = {}) =>
  store.outbox.take({ classes: [''], capacity: CAPACITY, limit: 100_000, staleMs: 60_000, ...changes })

/** Takes, removes and claims runs, like a dispatcher and a worker together. */
export async function claimAll(
  store: Store,
  runStore: RunStore,
  workerId: string,
  changes: Parameters<typeof take>[1] = {},
): Promise<ClaimedRun[]> {
  const rows = await take(store, changes)
  await store.outbox.remove(rows)
  const claimed = await runStore.claim(workerId, rows)
  return claimed.sort((a, b) => a.runId - b.runId)
}

export const keyOf = ({ runId, attempt }: RunKey): RunKey => ({ runId, attempt })

export const ended = (
  run: RunKey,
  status: RunEnd['status'] = 'completed',
  last: Omit<RunUpdate, keyof RunKey> = {},
  errorMessage = '',
): RunEnd & { last: RunUpdate } => ({
  ...keyOf(run),
  status,
  errorMessage,
  killedPids: [],
  last: { ...keyOf(run), ...last },
})

export const step = (seq: number, changes: Partial<StepRecord> = {}): StepRecord => ({
  seq,
  id: randomUUID(),
  name: `step-${seq}`,
  type: 'bash',
  module: '',
  status: 'running',
  command: 'true',
  output: '',
  errorMessage: '',
  exports: {},
  exitCode: null,
  durationMs: 0,
  logFile: '',
  startedAt: '2026-01-31T12:00:00.000Z',
  completedAt: null,
  ...changes,
})

export const closedStep = (seq: number, changes: Partial<StepRecord> = {}): StepRecord =>
  step(seq, {
    status: 'completed',
    exitCode: 0,
    durationMs: 12,
    completedAt: '2026-01-31T12:00:01.000Z',
    ...changes,
  })

/** A run of a new job that this worker has claimed. */
export const runningOf = async (store: Store, runStore: RunStore, workerId: string): Promise<ClaimedRun> => {
  await submitted(store)
  const [run] = await claimAll(store, runStore, workerId)
  if (!run) throw new Error('nothing claimed')
  return run
}

/** The status of a run, or `undefined`. */
export const statusOf = async (store: Store, runId: number): Promise<string | undefined> =>
  (await store.runs.find(String(runId)))?.status

/** Deletes all jobs, runs and their records, for tests that count rows. */
export const wipe = async (url: string): Promise<void> => {
  await asSuperuser(
    (client) =>
      client.query(
        'truncate jobs, job_targets, runs, outbox, slots, workers, steps, artifacts, destinations, event_logs, cloud_infras, cloud_instances',
      ),
    url,
  )
}

/** An asset with the given changes. */
export const assetOf = (changes: Partial<AssetContent> = {}): AssetContent => ({
  asset_type: 'http',
  asset_value: 'a.example',
  url: '',
  host_ip: '',
  scheme: '',
  status_code: 0,
  title: '',
  content_type: '',
  technologies: [],
  open_ports: [],
  dns_records: [],
  remarks: [],
  raw_json_data: '',
  ...changes,
})

/** A finding of a scanner with the given changes. */
export const findingOf = (changes: Partial<FindingContent> = {}): FindingContent => ({
  vuln_info: 'CVE-1',
  vuln_title: '',
  vuln_desc: '',
  vuln_poc: '',
  severity: 'high',
  confidence: 'Firm',
  asset_type: 'web',
  asset_value: 'a.test',
  tags: [],
  detail_http_request: '',
  detail_http_response: '',
  raw_vuln_json: '',
  ...changes,
})
