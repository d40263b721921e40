import { setTimeout as delay } from 'node:timers/promises'
import type { components, Job } from '@scanfarm/client'
import { plural } from '@scanfarm/contracts'
import type { Api } from '../client/api.ts'
import { dim, endProgress, green, progress, red, say, yellow } from './screen.ts'

const POLL_MS = 250
const PATIENCE_MS = 300_000

/**
 * Shows the job's steps as they end, with a progress bar below, until all its runs have ended. `poll`: reads further state; its
 * text is shown after the bar.
 */
export async function watchJob(
  api: Api,
  jobId: string,
  poll: () => Promise<string> = async () => '',
): Promise<Job> {
  const started = Date.now()
  let seen = 0
  while (Date.now() - started < PATIENCE_MS) {
    const job = await api.call(({ GET }) => GET('/jobs/{job_id}', { params: { path: { job_id: jobId } } }))
    seen = await showLog(api, job, seen)
    const done = job.completed + job.failed + job.cancelled
    const seconds = ((Date.now() - started) / 1000).toFixed(1)
    const more = await poll()
    const note = `${job.running} running, ${job.pending} waiting, ${seconds} s`
    progress(done, job.total_runs, more === '' ? note : `${note}, ${more}`)
    if (done === job.total_runs) {
      endProgress()
      say(
        `\n${plural(done, 'run')} ended in ${seconds} s: ${job.completed} completed, ${job.failed} failed\n`,
      )
      return job
    }
    await delay(POLL_MS)
  }
  throw new Error(`the job has not ended within ${PATIENCE_MS / 1000} s`)
}

const MARKS: Record<string, string> = {
  'run.started': yellow('▶ started'),
  'step.completed': dim('  step'),
  'step.failed': red('  step failed'),
  'run.completed': green('✔ completed'),
  'run.failed': red('✘ failed'),
  'run.cancelled': red('✘ cancelled'),
}

async function showLog(api: Api, job: Job, seen: number): Promise<number> {
  const targets = new Map(job.runs.map((run) => [run.run_uuid, run.target]))
  const { data } = await api.call(({ GET }) => GET('/event-logs', { params: { query: { limit: 500 } } }))
  for (const entry of data.filter(({ id }) => id > seen).reverse()) {
    const target = targets.get(entry.run_id)
    const mark = MARKS[entry.topic]
    if (target !== undefined && mark !== undefined) say(`${target.padEnd(18)} ${mark} ${dim(stepOf(entry))}`)
  }
  return Math.max(seen, ...data.map(({ id }) => id))
}

const stepOf = (entry: components['schemas']['EventLogEntry']): string => {
  const data = JSON.parse(entry.data) as { step_name?: string; module?: string; duration_ms?: number }
  if (data.step_name === undefined) return ''
  return `${data.module ? `${data.module} / ` : ''}${data.step_name} (${data.duration_ms ?? 0} ms)`
}
