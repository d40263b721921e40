import type { RunStatus, StepStatus } from '@scanfarm/contracts'
import { sql, type Kysely, type RawBuilder } from 'kysely'
import { byRef, type RunRef } from './run-rows.ts'
import type { Tables } from '../tables.ts'
import { isUuid } from '../text.ts'

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

interface LogRow {
  readonly run_id: number
  readonly run_uuid: string
  readonly run_status: RunStatus
  readonly run_attempt: number
}
interface StepLogRow extends LogRow {
  readonly id: string
  readonly attempt: number
  readonly seq: number
  readonly status: StepStatus
  readonly exit_code: number | null
  readonly output: string
  readonly log_file: string
}

const RUN_OF_LOG = sql.raw('r.id as run_id, r.run_uuid, r.status as run_status, r.attempt as run_attempt')

const logOfRun = async (db: Kysely<Tables>, run: RawBuilder<unknown>): Promise<LogState | undefined> => {
  const { rows } = await sql<LogRow>`select ${RUN_OF_LOG} from runs r where ${run}`.execute(db)
  const [row] = rows
  return (
    row && {
      runId: row.run_id,
      runUuid: row.run_uuid,
      runStatus: row.run_status,
      runAttempt: row.run_attempt,
      attempt: row.run_attempt,
    }
  )
}

/** `step`: condition and order of the step's row. */
const logOfStep = async (
  db: Kysely<Tables>,
  run: RawBuilder<unknown>,
  step: RawBuilder<unknown>,
): Promise<LogState | undefined> => {
  const { rows } = await sql<StepLogRow>`
    select ${RUN_OF_LOG}, s.id, s.attempt, s.seq, s.status, s.exit_code, s.output, s.log_file
    from runs r cross join lateral (select * from steps where run_id = r.id and ${step} limit 1) s where ${run}
  `.execute(db)
  const [row] = rows
  return (
    row && {
      runId: row.run_id,
      runUuid: row.run_uuid,
      runStatus: row.run_status,
      runAttempt: row.run_attempt,
      attempt: row.attempt,
      step: {
        id: row.id,
        seq: row.seq,
        status: row.status,
        exitCode: row.exit_code,
        output: row.output,
        storeKey: row.log_file,
      },
    }
  )
}

export const logOf = async (
  db: Kysely<Tables>,
  ref: RunRef,
  stepId: string | undefined,
): Promise<LogState | undefined> => {
  const run = byRef(ref)
  if (!run) return undefined
  if (stepId === undefined) return await logOfRun(db, run)
  return isUuid(stepId) ? await logOfStep(db, run, sql`id = ${stepId} order by attempt desc`) : undefined
}

export const logAgain = async (
  db: Kysely<Tables>,
  { runId, attempt, step }: LogState,
): Promise<LogState | undefined> => {
  const run = sql`r.id = ${runId}`
  if (step === undefined) return await logOfRun(db, run)
  return await logOfStep(db, run, sql`attempt = ${attempt} and seq = ${step.seq}`)
}

/** Parallel steps may begin in another order: the nearest one with the same name. */
export const logInLatest = async (
  db: Kysely<Tables>,
  { runId, attempt, step }: LogState,
): Promise<LogState | undefined> => {
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
}

/** How long expired rows may stay. */
const EXPIRED = sql.raw("interval '1 minute'")

export const followLogs = async (
  db: Kysely<Tables>,
  runIds: readonly number[],
  ms: number,
): Promise<void> => {
  await sql`
    insert into log_follows (run_id, until)
    select id, now() + ${ms} * interval '1 ms' from unnest(${[...runIds]}::bigint[]) id order by id
    on conflict (run_id) do update set until = greatest(log_follows.until, excluded.until)
  `.execute(db)
  await sql`
    delete from log_follows where run_id in (
      select run_id from log_follows where until < now() - ${EXPIRED} order by run_id for update skip locked)
  `.execute(db)
}
