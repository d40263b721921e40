import type { CloudFields, Priority, ResumePoint, RunMode, WaitingJob } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { cloudChoice, newInfraId, refusing, type CloudChoice } from '../cloud/requests.ts'
import { storable, storableJson } from '../text.ts'
import type { Tables } from '../tables.ts'
import { isJobId } from './job-no.ts'
import { MAX_RUNS_AT_ONCE, newJobId } from './submit-job.ts'
import { firstRow, firstValue } from '../rows.ts'

/** Waiting runs whose priority is changed in one transaction. */
const PRIORITY_CHUNK = 2_000
/** With more waiting runs the masters make the change, so that no request lasts longer than a few seconds. */
const AT_ONCE = 10_000
/** Another master continues a change that made no progress for this long. */
const LEASE_MS = 5_000

const leaseEnd = sql`now() + ${LEASE_MS} * interval '1 ms'`

/** Messages that claim nothing any more. */
export type VoidMessages = readonly { readonly runId: number; readonly epoch: number }[]

export const WAITING_JOB = sql`jobs.id as "jobNo", jobs.submitted_by as owner, jobs.priority,
  jobs.requirement_class as "requirementClass", jobs.run_mode as "runMode"`

export type WaitingRow = WaitingJob & { readonly runMode: RunMode }

/** Undefined if its runs have no messages. */
export const waitingOf = ({ runMode, ...job }: WaitingRow): WaitingJob | undefined =>
  runMode === 'distributed' ? job : undefined

export interface ChangedPriority {
  readonly previous: Priority
  /** With the previous priority, of which no message claims anything any more. Undefined if some still do. */
  readonly waiting: WaitingJob | undefined
  /** Waiting runs whose place was changed; `later`: those whose place the masters change now. */
  readonly changed: number
  readonly later: boolean
}

interface ChangeParts {
  readonly jobNo: number
  readonly priority: Priority
  /** Called after each transaction. */
  readonly onVoid: (messages: VoidMessages, requirementClass: string) => void
  readonly requirementClass: string
}

/** `upkeep`: the same database with a longer statement timeout. */
export const makeJobChanges = (db: Kysely<Tables>, upkeep: Kysely<Tables>) => ({
  /**
   * Changes the priority of what waits. Stores the new priority of a job, and commits it before its waiting runs get
   * it, in chunks: runs that are created or queued from then on have it already. With many waiting runs, or if the
   * caller dies, `finishPriority` continues. Undefined for an unknown job. `onVoid` receives messages that the queue
   * need not keep.
   */
  async changePriority(
    jobId: string,
    priority: Priority,
    onVoid: ChangeParts['onVoid'],
  ): Promise<ChangedPriority | undefined> {
    if (!isJobId(jobId)) return undefined
    const job = await firstRow(db)<WaitingRow & { previous: Priority; due: boolean }>`
      update jobs set priority = ${priority},
        priority_due_at = case when before.priority = ${priority} then before.priority_due_at else ${leaseEnd} end
      from (select id, priority, priority_due_at from jobs where job_id = ${jobId} for no key update) before
      where jobs.id = before.id
      returning ${WAITING_JOB}, before.priority as previous, jobs.priority_due_at is not null as due
    `
    if (job === undefined) return undefined
    const { previous, due, ...now } = job
    const { jobNo, requirementClass } = now
    const waiting = previous === priority ? undefined : waitingOf({ ...now, priority: previous })
    if (!due) return { previous, waiting, changed: 0, later: false }
    const count = await countWaiting(db, jobNo)
    if (count > AT_ONCE) {
      await sql`update jobs set priority_due_at = '-infinity' where id = ${jobNo} and priority = ${priority}`.execute(
        db,
      )
      return { previous, waiting: undefined, changed: count, later: true }
    }
    return {
      previous,
      waiting,
      changed: await changeWaiting(db, { jobNo, priority, requirementClass, onVoid }),
      later: false,
    }
  },
  /** Makes one change of a priority that is left to the masters, or whose master died; undefined if there is none. */
  async finishPriority(onVoid: ChangeParts['onVoid']): Promise<FinishedPriority | undefined> {
    const job = await firstRow(upkeep)<WaitingRow & { jobId: string; interrupted: boolean }>`
      update jobs set priority_due_at = ${leaseEnd}
      from (select id, priority_due_at from jobs where priority_due_at < now() order by priority_due_at limit 1
            for no key update skip locked) due
      where jobs.id = due.id
      returning ${WAITING_JOB}, job_id as "jobId", due.priority_due_at > '-infinity' as interrupted
    `
    if (job === undefined) return undefined
    const { jobId, interrupted, ...now } = job
    const changed = await changeWaiting(upkeep, { ...now, onVoid })
    return { jobId, waiting: waitingOf(now), changed, interrupted }
  },
  async retrySource(jobId: string): Promise<RetrySource | undefined> {
    if (!isJobId(jobId)) return undefined
    return await firstRow(db)<RetrySource>`
      select id as no, run_mode as "runMode", params, cloud, requirement_class as "requirementClass"
      from jobs where job_id = ${jobId}
    `
  },
  /**
   * Whether the workflow of the job has the step; in a flow also `module/step`. The names of modules are not checked: a
   * flow may give a module another name than its workflow has.
   */
  async hasStep(jobNo: number, step: string): Promise<boolean> {
    const name = JSON.stringify(storable(step.slice(step.lastIndexOf('/') + 1)))
    return await firstValue(db, false)`
      select jsonb_path_exists(w.json::jsonb, '$.**.steps[*] ? (@.name == $name)',
                               jsonb_build_object('name', ${name}::jsonb)) as has
      from jobs j join pinned_workflows w on w.hash = j.workflow_hash where j.id = ${jobNo}
    `
  },
  /** Creates a job that repeats runs of another one, in one transaction; undefined if there is nothing to repeat. */
  async retry(
    jobNo: number,
    { statuses, outcomes, runIds }: RetrySelection,
    { cloud, from = null, atOnce = MAX_RUNS_AT_ONCE }: RetryOptions = {},
  ): Promise<Retried | undefined> {
    const choice = cloud ? storableJson(cloudChoice(cloud, newInfraId())) : null
    const { rows } = await refusing(
      sql<{ job_id: string; runs: number; at_start: number }>`
        select job_id, runs, at_start from retry_job(${jobNo}, ${newJobId()}, ${statuses}::text[], ${outcomes}::text[],
          ${runIds ?? null}::bigint[], ${choice}::jsonb, ${atOnce}::int,
          ${from === null ? null : JSON.stringify(from)}::jsonb)
      `.execute(upkeep),
    )
    const [made] = rows
    return made && { jobId: made.job_id, runs: made.runs, atStart: made.at_start }
  },
})

const countWaiting = (db: Kysely<Tables>, jobNo: number): Promise<number> => firstValue(db, 0)`
    select count(*) from runs where job_no = ${jobNo} and status || '' = 'queued'
  `

export interface FinishedPriority {
  readonly jobId: string
  /** With its priority. No message of another one claims anything any more. */
  readonly waiting: WaitingJob | undefined
  readonly changed: number
  /** The master that made the change has died. */
  readonly interrupted: boolean
}

interface ChangedRow {
  readonly changed: number
  readonly last_id: number | null
  readonly void: VoidMessages | null
}
const changeChunk = async (db: Kysely<Tables>, jobNo: number, after: number): Promise<ChangedRow> => {
  const { rows } = await sql<ChangedRow>`
    select changed, last_id, void from change_priority(${jobNo}, ${after}, ${PRIORITY_CHUNK})
  `.execute(db)
  return rows[0] ?? { changed: 0, last_id: null, void: null }
}

const changeWaiting = async (
  db: Kysely<Tables>,
  { jobNo, priority, requirementClass, onVoid }: ChangeParts,
): Promise<number> => {
  let sum = 0
  for (let after: number | null = 0; after !== null;) {
    const { changed, last_id: last, void: messages } = await changeChunk(db, jobNo, after)
    sum += changed
    after = last
    if (messages) onVoid(messages, requirementClass)
    await sql`update jobs set priority_due_at = ${leaseEnd} where id = ${jobNo} and priority_due_at is not null`.execute(
      db,
    )
  }
  // A run that was put back by a statement from before the change may have the old rank. A later change wins.
  await sql`
    update outbox set rank = priority_rank(${priority})
    where sent_at is null and rank <> priority_rank(${priority})
      and run_id in (select id from runs where job_no = ${jobNo} and status || '' = 'queued' and attempt > 0)
      and exists (select from jobs where id = ${jobNo} and priority = ${priority})
  `.execute(db)
  await sql`update jobs set priority_due_at = null where id = ${jobNo} and priority = ${priority}`.execute(db)
  return sum
}

/** What a retry needs to know of the job. */
export interface RetrySource {
  readonly no: number
  readonly runMode: RunMode
  readonly params: Readonly<Record<string, string>>
  readonly cloud: CloudFields | null
  readonly requirementClass: string
}

export interface RetrySelection {
  readonly statuses: readonly ('failed' | 'cancelled')[]
  readonly outcomes: readonly ('partial' | 'nothing_done')[]
  /** Only the targets of these runs. */
  readonly runIds?: readonly number[]
}

/** `runs`: 0 if an earlier retry still executes them; `jobId` names it. */
export interface Retried {
  readonly jobId: string
  readonly runs: number
  /** How many begin at the start, not at the step that was named: nothing is stored. */
  readonly atStart: number
}

export interface RetryOptions {
  readonly cloud?: CloudChoice | undefined
  /** The first step that the runs execute again; null: they begin at the start. */
  readonly from?: ResumePoint['from'] | null
  /** More runs are created later. */
  readonly atOnce?: number
}
