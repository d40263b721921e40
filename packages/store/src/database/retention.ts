import { sql, type Kysely } from 'kysely'
import type { Tables } from '../tables.ts'
import { firstValue } from '../rows.ts'

interface OldRunsOptions {
  readonly days: number
  readonly after: number
  readonly limit: number
}

interface OldRuns {
  readonly ids: number[]
  readonly next: number | undefined
}

/** Old runs. Their findings, assets and events are kept: these have their own retention. */
export const makeRetention = (db: Kysely<Tables>) => ({
  /**
   * Those of the next `limit` runs after the id `after` that were created and ended more than `days` ago. `next`: the
   * id to continue after; undefined: the end. Ids grow with the time of creation, so no index on the time of the end
   * is needed, which would slow every run.
   */
  async oldRuns({ days, after, limit }: OldRunsOptions): Promise<OldRuns> {
    const { rows } = await sql<{ id: number; made_before: boolean; is_old: boolean }>`
      select id, created_at < now() - ${days} * interval '1 day' as made_before,
             ${ENDED} and completed_at < now() - ${days} * interval '1 day' and ${JUDGED} as is_old
      from runs r where id > ${after} order by id limit ${limit}
    `.execute(db)
    const last = rows.at(-1)
    return {
      ids: rows.filter((row) => row.is_old).map(({ id }) => id),
      next: rows.length === limit && last?.made_before === true ? last.id : undefined,
    }
  },
  /**
   * The keys of the run's rows in the artifact store, and its uuid, to find keys without a row. Delete these objects
   * before the run: afterwards their keys are unknown.
   */
  async bytesOf(runId: number): Promise<{ runUuid: string | undefined; keys: string[] }> {
    const { rows } = await sql<{ run_uuid: string; keys: string[] }>`
      select run_uuid, array(
        select store_key from artifacts where run_id = r.id
        union select log_file from steps where run_id = r.id and log_file <> '') as keys
      from runs r where id = ${runId}
    `.execute(db)
    return { runUuid: rows[0]?.run_uuid, keys: rows[0]?.keys ?? [] }
  },
  /**
   * Deletes those of the runs that are still old and ended, with their steps, artifacts, destinations, scans and
   * observations. A job is deleted with its last run. Marks the workspaces, so that machines remove their folders.
   * Resolves to the number. One master at a time, so that the counts of a job are updated once.
   */
  async removeRuns(ids: readonly number[], days: number): Promise<number> {
    if (ids.length === 0) return 0
    return await db.transaction().execute(async (tx) => {
      await sql`select acquire_lock('retention')`.execute(tx)
      return await firstValue(tx, 0)`
        with removed as (
          delete from runs r where id = any(${ids}::bigint[]) and ${ENDED}
            and completed_at < now() - ${days} * interval '1 day'
            and ${JUDGED}
          returning id, job_no, workspace, status, outcome),
        of_workspaces as (insert into pruned_workspaces (workspace) select distinct workspace from removed
                          on conflict (workspace) do update set pruned_at = now()),
        of_steps as (delete from steps where run_id in (select id from removed)),
        of_artifacts as (delete from artifacts where run_id in (select id from removed)),
        of_observations as (delete from observations where run_id in (select id from removed)),
        of_destinations as (delete from destinations where run_id in (select id from removed)),
        of_scans as (delete from scans where run_id in (select id from removed)),
        lost as (select job_no, count(*)::int as runs, ${REMOVED_COUNTS} as counts from removed group by job_no),
        smaller as (update jobs set target_count = target_count - lost.runs,
                                    final_counts = fewer_counts(final_counts, lost.counts) from lost
                    where jobs.id = lost.job_no and target_count > lost.runs),
        empty as (delete from jobs using lost where jobs.id = lost.job_no and target_count <= lost.runs),
        without_runs as (delete from jobs where delta is not null and target_count = 0
                         and created_at < now() - ${days} * interval '1 day')
        select count(*) as removed from removed
      `
    })
  },
})

const ENDED = sql`r.status in ('completed', 'failed', 'cancelled')`
/** Its scans have been judged. */
const JUDGED = sql`not exists (select from scans s where s.run_id = r.id and s.judged_at is null)
  and not exists (select from unclean_runs u where u.run_id = r.id)`

const REMOVED_COUNTS = sql.raw(`jsonb_build_object(
  'completed', count(*) filter (where status = 'completed'), 'failed', count(*) filter (where status = 'failed'),
  'cancelled', count(*) filter (where status = 'cancelled'), 'clean', count(*) filter (where outcome = 'clean'),
  'partial', count(*) filter (where outcome = 'partial'),
  'nothing_done', count(*) filter (where outcome = 'nothing_done'))`)
