import { sql, type Kysely } from 'kysely'
import type { JobDraft, TargetDraft } from './job-draft.ts'
import { storable, storableJson } from '../text.ts'
import type { Tables } from '../tables.ts'
import { firstValue } from '../rows.ts'

/** A target of which nothing changed since a run. */
interface UnchangedTarget {
  /** Its place among the targets, from 0. */
  readonly index: number
  readonly runUuid: string
  readonly completedAt: string
}

export const makeDelta = (db: Kysely<Tables>) => ({
  /** How many jobs of mode delta came before the next one. */
  async turn({ workflowName, scheduleId }: Pick<JobDraft, 'workflowName' | 'scheduleId'>): Promise<number> {
    return await firstValue(db, 0)`
      select (delta ->> 'turn')::int + 1 as turn from jobs
      where workflow_name = ${storable(workflowName)} and schedule_id = ${scheduleId} and delta is not null
      order by id desc limit 1`
  },
  /** See unchanged_targets. */
  async unchanged(
    { workflowName, workflow, params }: Pick<JobDraft, 'workflowName' | 'workflow' | 'params'>,
    targets: readonly TargetDraft[],
    maxAgeMs: number,
  ): Promise<UnchangedTarget[]> {
    const { rows } = await sql<{ no: number; run_uuid: string; completed_at: string }>`
      select * from unchanged_targets(${storable(workflowName)}, ${workflow.hash}, ${storableJson(params)}::jsonb,
        ${targets.map(({ target }) => storable(target))}::text[], ${targets.map(({ workspace }) => workspace)}::text[],
        now() - ${maxAgeMs} * interval '1 ms')`.execute(db)
    return rows.map(({ no, run_uuid: runUuid, completed_at: completedAt }) => ({
      index: no - 1,
      runUuid,
      completedAt,
    }))
  },
})
