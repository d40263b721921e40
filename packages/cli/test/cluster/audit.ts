import type { Client } from './client.ts'
import { readJob, runsOf, type RunRow } from './jobs.ts'

interface StepRow {
  run_id: number
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
  /** One line for each problem, and at most a few of each kind. */
  readonly problems: readonly string[]
}

export interface Expected {
  readonly targets: readonly string[]
  /** Names of the steps of every run, in order. */
  readonly steps: readonly string[]
}

const SHOWN = 5

/**
 * Checks a finished job through the API. Each target must have exactly one completed run with one set of steps and one
 * `run.completed` event, and the counters of the job must agree, whatever machines failed. The runs must be among the
 * newest 10,000, because the list of steps contains no others.
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
  return found === JSON.stringify(right) ? [] : [`the job reports ${found}`]
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
  const steps = Map.groupBy(await client.all<StepRow>('/step-results?'), ({ run_id }) => run_id)
  return runs.flatMap((run) => {
    const data = steps.get(run.id) ?? []
    const right = data.every((step) => step.status !== 'running' && step.attempt === run.attempt)
    const found = data.map((step) => step.step_name).join()
    return right && found === names.join() ? [] : [`run ${run.id} has the steps ${JSON.stringify(data)}`]
  })
}

async function eventProblems(client: Client, runs: readonly RunRow[]): Promise<string[]> {
  const ends = new Map(runs.map((run) => [run.run_uuid, 0]))
  for (const topic of ['run.completed', 'run.failed', 'run.cancelled'])
    for (const event of await client.all<EventRow>(`/event-logs?topic=${topic}`)) {
      const seen = ends.get(event.run_id)
      // A failure counts as two ends: it is a problem even without a completion.
      if (seen !== undefined) ends.set(event.run_id, seen + (topic === 'run.completed' ? 1 : 2))
    }
  return [...ends]
    .filter(([, count]) => count !== 1)
    .map(([uuid, count]) => `run ${uuid} ended ${count} times`)
}
