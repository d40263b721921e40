import { expect } from '@jest/globals'
import type { Client } from './client.ts'
import { until } from './until.ts'

export interface Job {
  job_id: string
  total_runs: number
  completed: number
  running: number
  failed: number
  pending: number
  cancelled: number
  runs: { run_uuid: string; target: string; status: string }[]
}

export interface RunRow {
  id: number
  run_uuid: string
  target: string
  status: string
  attempt: number
  worker_id: string
  current_pid?: number
  total_steps: number
  completed_steps: number
  started_at: string | null
  completed_at: string | null
  run_group_id: string
  error_message?: string
}

interface StepRow {
  step_name: string
  status: string
  attempt: number
}

interface EventRow {
  topic: string
  run_id: string
}

const PAGE = 10_000
const READERS = 16

export const targets = (count: number, prefix = 'host'): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index + 1}.test`)

export interface Submission {
  readonly module: string
  readonly targets: readonly string[]
  readonly params?: Readonly<Record<string, string>>
  readonly priority?: string
  readonly concurrency?: number
}

/** Starts a distributed job and returns its id. */
export async function submit(client: Client, submission: Submission): Promise<string> {
  const answer = await client.post<{ job_id: string }>('/runs', { ...submission, run_mode: 'distributed' })
  return answer.job_id
}

export const readJob = (client: Client, jobId: string): Promise<Job> => client.get(`/jobs/${jobId}`)

export const readRun = async (client: Client, ref: string | number): Promise<RunRow> =>
  (await client.get<{ data: RunRow }>(`/runs/${ref}`)).data

/** Waits until `count` runs of the job have completed. */
export const someCompleted = (client: Client, jobId: string, count: number): Promise<Job> =>
  until(`${count} runs have completed`, async () => {
    const job = await readJob(client, jobId)
    return job.completed >= count && job
  })

/** Waits until no run of the job waits or runs. */
export const jobEnded = (client: Client, jobId: string, limitMs = 60_000): Promise<Job> =>
  until(
    'the job has ended',
    async () => {
      const job = await readJob(client, jobId)
      return job.pending + job.running === 0 && job
    },
    limitMs,
  )

/** All runs of a job, oldest first. */
export async function runsOf(client: Client, jobId: string): Promise<RunRow[]> {
  const { data } = await client.get<{ data: RunRow[] }>(`/runs?limit=${PAGE}`)
  return data.filter((run) => run.run_group_id === jobId).sort((a, b) => a.id - b.id)
}

async function eventsOf(client: Client, topic: string, uuids: ReadonlySet<string>): Promise<EventRow[]> {
  const { data } = await client.get<{ data: EventRow[] }>(`/event-logs?topic=${topic}&limit=${PAGE}`)
  return data.filter((event) => uuids.has(event.run_id))
}

/** Reads the steps of all runs, a few at a time. */
async function stepsOf(client: Client, runs: readonly RunRow[]): Promise<Map<number, StepRow[]>> {
  const found = new Map<number, StepRow[]>()
  const waiting = runs.values()
  const read = async (): Promise<void> => {
    for (const { id } of waiting)
      found.set(id, (await client.get<{ data: StepRow[] }>(`/runs/${id}/steps`)).data)
  }
  await Promise.all(Array.from({ length: READERS }, read))
  return found
}

const tally = (words: readonly string[]): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1
  return counts
}

/**
 * Every target of the job has exactly one run, completed, with exactly one set of completed steps and one
 * `run.completed` in the event log; the job's counters say the same. This is what no failure of a machine may change.
 */
export async function expectExactlyOnce(
  client: Client,
  jobId: string,
  expected: { targets: readonly string[]; steps: readonly string[] },
): Promise<RunRow[]> {
  const total = expected.targets.length
  const { runs: listed, ...counters } = await readJob(client, jobId)
  expect(counters).toEqual({
    job_id: jobId,
    total_runs: total,
    completed: total,
    running: 0,
    failed: 0,
    pending: 0,
    cancelled: 0,
  })
  expect(listed.map(({ target }) => target).sort()).toEqual([...expected.targets].sort())
  const runs = await runsOf(client, jobId)
  expect(tally(runs.map(({ status }) => status))).toEqual({ completed: total })
  const planned = expected.steps.length
  expect(runs.filter((run) => run.total_steps !== planned || run.completed_steps !== planned)).toEqual([])
  expect(runs.filter((run) => (run.current_pid ?? 0) !== 0)).toEqual([])
  await expectOneSetOfSteps(client, runs, expected.steps)
  await expectOneEnd(client, runs)
  return runs
}

async function expectOneSetOfSteps(
  client: Client,
  runs: readonly RunRow[],
  names: readonly string[],
): Promise<void> {
  const steps = await stepsOf(client, runs)
  const wrong = runs.filter((run) => {
    const rows = steps.get(run.id) ?? []
    const right = rows.every((row) => row.status === 'completed' && row.attempt === run.attempt)
    return !right || rows.map((row) => row.step_name).join() !== names.join()
  })
  expect(wrong.map((run) => ({ run, steps: steps.get(run.id) }))).toEqual([])
}

async function expectOneEnd(client: Client, runs: readonly RunRow[]): Promise<void> {
  const uuids = new Set(runs.map((run) => run.run_uuid))
  const completed = tally((await eventsOf(client, 'run.completed', uuids)).map((event) => event.run_id))
  expect(Object.keys(completed)).toHaveLength(uuids.size)
  expect(Object.entries(completed).filter(([, count]) => count !== 1)).toEqual([])
  expect(await eventsOf(client, 'run.failed', uuids)).toEqual([])
}
