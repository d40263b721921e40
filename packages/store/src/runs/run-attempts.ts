import { picked, type AttemptEnding, type RunAttempt, type RunStatus } from '@scanfarm/contracts'
import type { Kysely } from 'kysely'
import { byRef, type RunRef } from './run-rows.ts'
import type { Tables } from '../tables.ts'
import { firstRow } from '../rows.ts'

type Worker = Pick<RunAttempt, 'worker' | 'hostname' | 'pid' | 'version'>

/** An attempt as `requeue_runs` records it. */
interface PastAttempt
  extends Partial<Worker>, Pick<RunAttempt, 'attempt' | 'worker_id' | 'reason' | 'started_at'> {
  readonly ended_at: string
  readonly machine: string | null
  /** Missing, like its name, if the worker had left before. */
  readonly heard_at?: string
}

interface Row extends Worker, Pick<RunAttempt, 'attempt' | 'worker_id' | 'machine' | 'killed_pids'> {
  readonly status: RunStatus
  readonly reported: boolean
  readonly claimed_at: string | null
  readonly completed_at: string | null
  readonly error_message: string
  readonly past_attempts: PastAttempt[]
}

export const makeRunAttempts = (db: Kysely<Tables>) => ({
  /** The attempts of a run, oldest first, at most 101; undefined for an unknown run. */
  async attempts(ref: RunRef): Promise<RunAttempt[] | undefined> {
    const condition = byRef(ref)
    if (condition === undefined) return undefined
    const row = await firstRow(db)<Row>`
      select r.status, r.attempt, coalesce(r.reported_attempt = r.attempt, false) as reported, r.worker_id,
             coalesce(r.claimed_at, r.started_at) as claimed_at, r.completed_at, r.error_message, r.killed_pids,
             coalesce(r.past_attempts, '[]') as past_attempts,
             coalesce((select name from cloud_instances i where i.id = r.instance_no), '') as machine,
             coalesce(w.name, p.name, '') as worker, coalesce(w.hostname, p.hostname, '') as hostname,
             coalesce(w.pid, p.pid, 0) as pid, coalesce(w.version, p.version, '') as version
      from runs r left join workers w on w.id = r.worker_id left join past_workers p on p.id = r.worker_id
      where ${condition}
    `
    if (row === undefined) return undefined
    const past = row.past_attempts.map(pastAttempt)
    const hasLast = row.attempt > 0 && past.at(-1)?.attempt !== row.attempt
    return hasLast ? [...past, lastAttempt(row)] : past
  },
})

const isoTime = (text: string | null | undefined): string | null =>
  text === null || text === undefined ? null : new Date(text).toISOString()

const pastAttempt = (entry: PastAttempt): RunAttempt => ({
  attempt: entry.attempt,
  ending: pastEnding(entry.reason),
  reason: entry.reason,
  worker_id: entry.worker_id,
  worker: entry.worker ?? '',
  hostname: entry.hostname ?? '',
  pid: entry.pid ?? 0,
  version: entry.version ?? '',
  machine: entry.machine ?? '',
  started_at: isoTime(entry.started_at),
  ended_at: isoTime(entry.ended_at),
  heard_at: isoTime(entry.heard_at),
  killed_pids: [],
})

/** The texts that `reap_runs`, `release_runs` and `move_runs_off_instances` pass to `requeue_runs`. */
const pastEnding = (reason: string): AttemptEnding => {
  if (reason.startsWith('the machine was lost')) return 'machine_lost'
  return reason === 'the worker was lost' ? 'worker_lost' : 'handed_back'
}

/** The attempt that executes the run, or that ended it. */
const lastAttempt = (row: Row): RunAttempt => ({
  ...picked(row, ['attempt', 'worker_id', 'worker', 'hostname', 'pid', 'version', 'machine', 'killed_pids']),
  ending: lastEnding(row),
  reason: row.error_message,
  started_at: row.claimed_at,
  ended_at: row.completed_at,
  heard_at: null,
})

const lastEnding = ({ status, reported, error_message: error }: Row): AttemptEnding => {
  if (status === 'completed' || status === 'cancelled') return status
  if (status !== 'failed') return 'running'
  if (reported) return 'failed'
  // The texts of reap_runs and move_runs_off_instances, which give a run up.
  if (error.startsWith('quarantined after')) return 'worker_lost'
  return error.startsWith('given up: machines') ? 'machine_lost' : 'failed'
}
