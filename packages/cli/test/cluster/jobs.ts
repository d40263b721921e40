import type { Client } from './client.ts'
import { until } from './program.ts'

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
  created_at: string
  started_at: string | null
  completed_at: string | null
  error_message?: string
}

export interface Submission {
  readonly module: string
  readonly targets: readonly string[]
  readonly params?: Readonly<Record<string, string>>
  readonly priority?: string
  readonly concurrency?: number
  /** Default: distributed. */
  readonly run_mode?: 'local' | 'distributed'
}

export const targets = (count: number, prefix = 'host'): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index + 1}.test`)

/** Starts a distributed job and returns its id. */
export async function submit(client: Client, submission: Submission): Promise<string> {
  const answer = await client.post<{ job_id: string }>('/runs', { run_mode: 'distributed', ...submission })
  return answer.job_id
}

export const readJob = (client: Client, jobId: string): Promise<Job> => client.get(`/jobs/${jobId}`)

export const readRun = async (client: Client, ref: string | number): Promise<RunRow> =>
  (await client.get<{ data: RunRow }>(`/runs/${ref}`)).data

/** All runs of a job, oldest first. */
export const runsOf = async (client: Client, jobId: string): Promise<RunRow[]> =>
  (await client.all<RunRow>(`/runs?job_id=${jobId}`)).sort((a, b) => a.id - b.id)

/** Whether runs of the job are queued. The API returns a job with all of its runs, so polling jobs would be expensive. */
const hasQueued = async (client: Client, jobId: string): Promise<boolean> =>
  (await client.get<{ data: RunRow[] }>(`/runs?job_id=${jobId}&status=queued&limit=1`)).data.length > 0

/** Waits until `count` runs of the job have completed. */
export const someCompleted = (client: Client, jobId: string, count: number): Promise<Job> =>
  until(`${count} runs have completed`, async () => {
    const job = await readJob(client, jobId)
    return job.completed >= count && job
  })

/** Waits until all runs of the job have ended. Failed requests are repeated. */
export const jobEnded = (client: Client, jobId: string, limitMs = 240_000): Promise<Job> =>
  until(
    'the job has ended',
    async () => {
      if (await hasQueued(client, jobId)) return undefined
      const job = await readJob(client, jobId)
      return job.pending + job.running === 0 && job
    },
    limitMs,
  )
