import type { Client } from './client.ts'
import { readJob, runsOf, type RunRow } from './jobs.ts'

interface StepRow {
  step_name: string
  status: string
  attempt: number
}

interface EventRow {
  topic: string
  run_id: string
}

export interface Audit {
  readonly runs: readonly RunRow[]
  /** A line for each thing that is not as it should be; at most a few of a kind. */
  readonly problems: readonly string[]
}

export interface Expected {
  readonly targets: readonly string[]
  /** Names of the steps of every run, in order. */
  readonly steps: readonly string[]
}

const READERS = 16
const SHOWN = 5

/**
 * Reads a finished job back through the API. Every target must have exactly one run, completed, with exactly one set of
 * completed steps and one `run.completed` in the event log, and the job's counters must say the same: what no failure
 * of a machine may change.
 */
export async function audit(client: Client, jobId: string, expected: Expected): Promise<Audit> {
  const runs = await runsOf(client, jobId)
  const problems = [
    ...(await counterProblems(client, jobId, expected.targets.length)),
    ...targetProblems(runs, expected.targets),
    ...few(runs.flatMap((run) => runProblems(run, expected.steps.length))),
    ...few(await stepProblems(client, runs, expected.steps)),
    ...few(await eventProblems(client, runs)),
  ]
  return { runs, problems }
}

const few = (problems: readonly string[]): string[] =>
  problems.length > SHOWN
    ? [...problems.slice(0, SHOWN), `… and ${problems.length - SHOWN} more`]
    : [...problems]

async function counterProblems(client: Client, jobId: string, total: number): Promise<string[]> {
  const { total_runs, completed, running, failed, pending, cancelled, runs } = await readJob(client, jobId)
  const found = JSON.stringify({
    total_runs,
    completed,
    running,
    failed,
    pending,
    cancelled,
    listed: runs.length,
  })
  const right = {
    total_runs: total,
    completed: total,
    running: 0,
    failed: 0,
    pending: 0,
    cancelled: 0,
    listed: total,
  }
  return found === JSON.stringify(right) ? [] : [`the job says ${found}`]
}

function targetProblems(runs: readonly RunRow[], targets: readonly string[]): string[] {
  const found = runs.map(({ target }) => target).sort()
  const right = [...targets].sort()
  return found.join('\n') === right.join('\n')
    ? []
    : [`${found.length} runs do not match ${right.length} targets`]
}

function runProblems(run: RunRow, steps: number): string[] {
  const problems = []
  if (run.status !== 'completed') problems.push(`run ${run.id} is ${run.status}`)
  if (run.total_steps !== steps || run.completed_steps !== steps)
    problems.push(
      `run ${run.id} counts ${run.completed_steps} of ${run.total_steps} steps instead of ${steps}`,
    )
  if ((run.current_pid ?? 0) !== 0) problems.push(`run ${run.id} still names process ${run.current_pid}`)
  return problems
}

async function stepProblems(
  client: Client,
  runs: readonly RunRow[],
  names: readonly string[],
): Promise<string[]> {
  const problems: string[] = []
  const waiting = runs.values()
  const read = async (): Promise<void> => {
    for (const run of waiting) {
      const { data } = await client.get<{ data: StepRow[] }>(`/runs/${run.id}/steps`)
      const right = data.every((step) => step.status !== 'running' && step.attempt === run.attempt)
      const found = data.map((step) => step.step_name).join()
      if (!right || found !== names.join())
        problems.push(`run ${run.id} has the steps ${JSON.stringify(data)}`)
    }
  }
  await Promise.all(Array.from({ length: READERS }, read))
  return problems
}

async function eventProblems(client: Client, runs: readonly RunRow[]): Promise<string[]> {
  const ends = new Map(runs.map((run) => [run.run_uuid, 0]))
  for (const topic of ['run.completed', 'run.failed'])
    for (const event of await client.all<EventRow>(`/event-logs?topic=${topic}`)) {
      const seen = ends.get(event.run_id)
      // A failure counts as much as a second completion: neither may be there.
      if (seen !== undefined) ends.set(event.run_id, seen + (topic === 'run.completed' ? 1 : 2))
    }
  return [...ends]
    .filter(([, count]) => count !== 1)
    .map(([uuid, count]) => `run ${uuid} ended ${count} times`)
}
