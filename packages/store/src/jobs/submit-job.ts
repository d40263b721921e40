import { randomUUID } from 'node:crypto'
import { AppError, LISTED_REFUSALS, type Priority } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { cloudChoice, refusing, submittedInfra } from '../cloud/requests.ts'
import { isUniqueViolation } from '../database/connection.ts'
import type {
  JobDraft,
  KeptAnswer,
  Refused,
  SubmitOptions,
  SubmittedJob,
  TargetDraft,
  TargetStream,
} from './job-draft.ts'
import { jobNoOf } from './job-no.ts'
import type { OutboxRow } from '../runs/outbox.ts'
import type { Tables } from '../tables.ts'
import { storable, storableJson } from '../text.ts'
import { insertRepeat, newScheduleId } from '../triggers/schedules.ts'

/** With more targets, the targets are stored first, and their runs are created later in chunks. */
export const MAX_RUNS_AT_ONCE = 100_000

/** `sent`: outbox rows that are marked as sent and that the caller must add to the queue. */
export type Submitted =
  { readonly job: SubmittedJob; readonly sent: readonly OutboxRow[] } | { readonly kept: KeptAnswer }

/** New runs that are stored as sent, and their job. */
interface Sent {
  readonly sent: readonly number[]
  readonly job_no: number
  readonly owner: string
  readonly weight: number
}

const sentRows = (
  { sent, job_no: jobNo, owner, weight }: Sent,
  { priority, requirementClass }: Pick<OutboxRow, 'priority' | 'requirementClass'>,
): OutboxRow[] => {
  const share = { jobNo, owner, weight }
  return sent.map((runId) => ({ runId, epoch: 0, priority, requirementClass, share }))
}

/** The last 64 bits of a UUID, 62 of them random. Node reads random bytes ahead for UUIDs. */
export const newJobId = (): string => randomUUID().replaceAll('-', '').slice(-16)

/** `upkeep`: the same database with a longer statement timeout. */
export const makeSubmits = (db: Kysely<Tables>, upkeep: Kysely<Tables>) => ({
  /**
   * Stores in one transaction the job, its runs (`queued`, or `pending` with `start: false`), their outbox rows (the
   * first `concurrency` of them `ready`) and, with `idempotency`, the response that `answer` returns. `claimLocal` takes
   * the outbox rows of local runs, `cloud.bindRuns` and `claimCloud` those of cloud runs, the dispatcher all others. More
   * than `runsAtOnce` targets are stored first and expanded in chunks by `expandOnce`. `cloud` is required for a cloud job; its
   * infrastructure is created in the same transaction, and `fields` are stored for copies. A key that exists resolves to
   * the stored response if the request hash is the same, and is rejected (`idempotency_conflict`) if not. `schedule` is
   * created with the job, which counts as its first execution. With `send`, up to that many outbox rows are stored as
   * sent: none while more urgent ones of the class wait, and 100 at most while others of its priority do. If the caller
   * dies before it has added them to the queue, a dispatcher takes them as stale.
   */
  async submit(
    draft: JobDraft,
    targets: readonly TargetDraft[] | TargetStream,
    options: SubmitOptions = {},
  ): Promise<Submitted> {
    const count = 'chunks' in targets ? targets.count : targets.length
    if (count === 0 && draft.delta === undefined) throw new RangeError('a job needs at least one target')
    if ((draft.runMode === 'cloud') !== (options.cloud !== undefined)) {
      throw new RangeError('a cloud job needs an infrastructure, and no other job may have one')
    }
    for (;;) {
      const job: SubmittedJob = {
        jobId: newJobId(),
        targetCount: count,
        runUuid: count === 1 ? randomUUID() : undefined,
        infra: options.cloud && (await submittedInfra(db, options.cloud)),
        scheduleId: options.schedule && newScheduleId(),
      }
      try {
        return await refusing(insertJob(db, job, draft, targets, options))
      } catch (error) {
        const taken = isUniqueViolation(error) && (await jobNoOf(db, job.jobId)) !== undefined
        if (!taken) throw error
      }
    }
  },
  /**
   * Creates the runs of one chunk of one large job; undefined if there is none. `capacity`: most rows of each class and
   * priority that are stored as sent, as in `submit`; they are returned.
   */
  async expandOnce(
    capacity: Readonly<Record<string, Readonly<Record<Priority, number>>>> = {},
  ): Promise<readonly OutboxRow[] | undefined> {
    const { rows } = await sql<{
      made: (Sent & { readonly class: string; readonly priority: Priority }) | null
    }>`
      select expand_chunk(${JSON.stringify(capacity)}::jsonb) as made
    `.execute(upkeep)
    const made = rows[0]?.made
    return made ? sentRows(made, { ...made, requirementClass: made.class }) : undefined
  },
})

async function insertJob(
  db: Kysely<Tables>,
  job: SubmittedJob,
  draft: JobDraft,
  targets: readonly TargetDraft[] | TargetStream,
  options: SubmitOptions,
): Promise<Submitted> {
  const { idempotency, start = true } = options
  const answer = idempotency?.answer(job)
  const kept =
    idempotency && answer
      ? storableJson({
          key: idempotency.key,
          request_hash: idempotency.requestHash,
          status: answer.status,
          body: answer.body,
        })
      : null
  const choice = options.cloud && job.infra ? cloudChoice(options.cloud, job.infra.infraId) : null
  const columns = {
    ...jobColumns(job, draft, start),
    cloud: options.cloud?.fields ?? null,
    cloud_infra: choice,
  }
  const insert = async (on: Kysely<Tables>, now: readonly TargetDraft[], stored: boolean) => {
    const { rows } = await sql<{
      made: Partial<Sent> & { kept?: KeptAnswer & { request_hash: string } }
    }>`
      select submit_job(${storableJson(columns)}::jsonb, ${now.map((t) => storable(t.target))}::text[],
        ${now.map((t) => t.workspace)}::text[], ${job.runUuid ?? null}::uuid, ${stored}, ${kept}::jsonb,
        ${options.send ?? 0}::int) as made
    `.execute(on)
    return rows[0]?.made ?? {}
  }

  const stream = 'chunks' in targets ? targets : undefined
  const held = 'chunks' in targets ? [] : targets
  const isStored = job.targetCount > (options.runsAtOnce ?? MAX_RUNS_AT_ONCE) || stream !== undefined
  const { schedule } = options
  const { scheduleId } = job
  if (stream) await pinWorkflow(db, draft.workflow)
  const made =
    stream === undefined && schedule === undefined
      ? await insert(db, held, isStored)
      : await db.transaction().execute(async (tx) => {
          const result = await insert(tx, held, isStored)
          if (result.job_no === undefined) return result
          if (schedule && scheduleId) await insertRepeat(tx, scheduleId, schedule, result.job_no)
          if (stream === undefined) return result
          await storeTargets(tx, result.job_no, stream.chunks())
          if (choice)
            await sql`select join_infra(${result.job_no}, ${storableJson(choice)}::jsonb)`.execute(tx)
          return result
        })
  if (!made.kept) {
    const { sent = [], job_no = 0, owner = '', weight = 1 } = made
    return { job, sent: sentRows({ sent, job_no, owner, weight }, draft) }
  }
  if (made.kept.request_hash !== idempotency?.requestHash) throw idempotencyConflict()
  return { kept: { status: made.kept.status, body: made.kept.body } }
}

/** Commits separately: otherwise other submits of the same new workflow wait until all targets of this job are stored. */
const pinWorkflow = async (db: Kysely<Tables>, { hash, json }: JobDraft['workflow']): Promise<void> => {
  await db
    .insertInto('pinned_workflows')
    .values({ hash, json })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export const idempotencyConflict = (): AppError =>
  new AppError(
    'idempotency_conflict',
    'this Idempotency-Key was used before with another request; use a new key',
  )

/** The argument `p_job` of the SQL function `submit_job`. */
export const jobColumns = (job: SubmittedJob, draft: JobDraft, start: boolean) => ({
  job_id: job.jobId,
  workflow_name: draft.workflowName,
  workflow_kind: draft.workflowKind,
  workflow_hash: draft.workflow.hash,
  workflow_json: draft.workflow.json,
  params: draft.params,
  priority: draft.priority,
  run_mode: draft.runMode,
  runner_type: draft.runnerType,
  runner_given: draft.runnerGiven,
  docker_image: draft.dockerImage,
  docker_network: draft.dockerNetwork ?? '',
  ssh_host: draft.sshHost,
  timeout_minutes: draft.timeoutMinutes,
  concurrency: draft.concurrency,
  requirement_class: draft.requirementClass,
  trigger_type: draft.triggerType,
  trigger_name: draft.triggerName,
  schedule_id: job.scheduleId ?? draft.scheduleId,
  event_envelope: draft.eventEnvelope,
  submitted_by: draft.submittedBy ?? '',
  starts: start,
  target_count: job.targetCount,
  scope_no: draft.scopeNo ?? null,
  refused: draft.refused?.count ?? 0,
  refusals: refusalItems(draft.refused),
  delta: draft.delta?.fields ?? null,
  left_out: draft.delta?.leftOut.length ?? 0,
  resume: draft.resume ?? null,
  left_out_items: draft.delta?.leftOut.slice(0, LISTED_REFUSALS) ?? null,
})

/** The argument `p_items` of the SQL function `record_refusals`. */
export const refusalItems = (refused: Refused | undefined) =>
  (refused?.listed ?? []).map((one) => ({ ...one, place: refused?.place }))

const storeTargets = async (
  tx: Kysely<Tables>,
  jobNo: number,
  targets: AsyncIterable<readonly TargetDraft[]>,
): Promise<void> => {
  let number = 0
  for await (const chunk of targets) {
    await sql`insert into job_targets (job_no, chunk, targets, workspaces) values (${jobNo}, ${number++},
      ${chunk.map((t) => storable(t.target))}, ${chunk.map((t) => t.workspace)})`.execute(tx)
  }
}
