import type { RunStatus, StepStatus } from '@scanfarm/contracts'
import { sql, type Kysely, type RawBuilder } from 'kysely'
import { byRef, type RunRef } from './run-rows.ts'
import type { Tables } from '../tables.ts'
import { isUuid } from '../text.ts'
import { firstRow } from '../rows.ts'

/** Where a log of a run stands: its own, or that of one of its steps. */
export interface LogState {
  readonly runId: number
  readonly runUuid: string
  readonly runStatus: RunStatus
  /** The latest attempt of the run. */
  readonly runAttempt: number
  /** The attempt of the log; the latest one for the log of the run. */
  readonly attempt: number
  /** Missing: the log of the run. */
  readonly step?: {
    readonly id: string
    readonly seq: number
    readonly status: StepStatus
    readonly exitCode: number | null
    /** The end of its output, at most 16 KiB. */
    readonly output: string
    /** Key of its complete log in the artifact store, or `""`. */
    readonly storeKey: string
  }
}

const RUN_OF_LOG = sql`r.id as "runId", r.run_uuid as "runUuid", r.status as "runStatus", r.attempt as "runAttempt"`

const logOfRun = (db: Kysely<Tables>, run: RawBuilder<unknown>): Promise<LogState | undefined> =>
  firstRow(db)<LogState>`select ${RUN_OF_LOG}, r.attempt from runs r where ${run}`

/** `step`: condition and order of the step's row. */
const logOfStep = (
  db: Kysely<Tables>,
  run: RawBuilder<unknown>,
  step: RawBuilder<unknown>,
): Promise<LogState | undefined> => firstRow(db)<LogState>`
    select ${RUN_OF_LOG}, s.attempt, json_build_object('id', s.id, 'seq', s.seq, 'status', s.status,
             'exitCode', s.exit_code, 'output', s.output, 'storeKey', s.log_file) as step
    from runs r cross join lateral (select * from steps where run_id = r.id and ${step} limit 1) s where ${run}
  `

export const makeRunLogs = (db: Kysely<Tables>) => ({
  /** The log of a run, or of a step of any attempt; undefined if there is no such run or step. */
  async log(ref: RunRef, stepId?: string): Promise<LogState | undefined> {
    const run = byRef(ref)
    if (!run) return undefined
    if (stepId === undefined) return await logOfRun(db, run)
    return isUuid(stepId) ? await logOfStep(db, run, sql`id = ${stepId} order by attempt desc`) : undefined
  },
  /** The same log at present; undefined once retention has removed the run. */
  async logAgain({ runId, attempt, step }: LogState): Promise<LogState | undefined> {
    const run = sql`r.id = ${runId}`
    if (step === undefined) return await logOfRun(db, run)
    return await logOfStep(db, run, sql`attempt = ${attempt} and seq = ${step.seq}`)
  },
  /**
   * The same step in the latest attempt of its run, if it has begun there. Parallel steps may begin in another order:
   * the nearest one with the same name.
   */
  async logInLatest({ runId, attempt, step }: LogState): Promise<LogState | undefined> {
    const run = sql`r.id = ${runId}`
    if (step === undefined) return await logOfRun(db, run)
    return await logOfStep(
      db,
      run,
      sql`attempt = r.attempt and (name, type, module) = (
            select name, type, module from steps
            where run_id = ${runId} and attempt = ${attempt} and seq = ${step.seq})
          order by abs(seq - ${step.seq})`,
    )
  },
  /** The workers of these runs store live copies of their logs for this long. */
  async followLogs(runIds: readonly number[], ms: number): Promise<void> {
    await sql`
      insert into log_follows (run_id, until)
      select id, now() + ${ms} * interval '1 ms' from unnest(${[...runIds]}::bigint[]) id order by id
      on conflict (run_id) do update set until = greatest(log_follows.until, excluded.until)
    `.execute(db)
    await sql`
      delete from log_follows where run_id in (
        select run_id from log_follows where until < now() - ${EXPIRED} order by run_id for update skip locked)
    `.execute(db)
  },
})

/** How long expired rows may stay. */
const EXPIRED = sql.raw("interval '1 minute'")
