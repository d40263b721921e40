import { sql, type Kysely } from 'kysely'

/** Runs whose time is over. Their findings, assets and events stay: those have lives of their own. */
export interface Retention {
  /**
   * Of the next `limit` runs from id `after` on that were made more than `days` ago, those that ended more than `days`
   * ago as well. `next`: where to go on; undefined: there are no more.
   */
  oldRuns(options: {
    days: number
    after: number
    limit: number
  }): Promise<{ ids: number[]; next: number | undefined }>
  /**
   * Keys under which rows of the run have bytes in the artifact store, and its uuid, for those without a row. Remove
   * them first: they are known only as long as the run.
   */
  bytesOf(runId: number): Promise<{ runUuid: string | undefined; keys: string[] }>
  /**
   * Removes those of the runs that are still old and ended, with steps, artifacts and what they saw; their jobs count
   * them no more, and go with their last run. Machines are let know of their workspaces. Resolves to how many.
   */
  removeRuns(ids: readonly number[], days: number): Promise<number>
}

export const makeRetention = (db: Kysely<unknown>): Retention => ({
  oldRuns: (options) => oldRuns(db, options),
  async bytesOf(runId) {
    const { rows } = await sql<{ run_uuid: string; keys: string[] }>`
      select run_uuid, array(
        select store_key from artifacts where run_id = r.id
        union select log_file from steps where run_id = r.id and log_file <> '') as keys
      from runs r where id = ${runId}
    `.execute(db)
    return { runUuid: rows[0]?.run_uuid, keys: rows[0]?.keys ?? [] }
  },
  removeRuns: (ids, days) => removeRuns(db, ids, days),
})

const ENDED = sql`r.status in ('completed', 'failed', 'cancelled')`
/** What it saw, and saw no more, has become known of its findings. */
const JUDGED = sql`not exists (select from scans s where s.run_id = r.id and s.judged_at is null)`

/** Ids follow the time of creation, so nothing needs an index on the time of the end, which would slow every run. */
const oldRuns = async (
  db: Kysely<unknown>,
  { days, after, limit }: Parameters<Retention['oldRuns']>[0],
): ReturnType<Retention['oldRuns']> => {
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
}

/** One master at a time, so that two never count for the same job. */
const removeRuns = async (db: Kysely<unknown>, ids: readonly number[], days: number): Promise<number> => {
  if (ids.length === 0) return 0
  return await db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtext('scanfarm retention'))`.execute(tx)
    const { rows } = await sql<{ removed: number }>`
      with removed as (
        delete from runs r where id = any(${ids}::bigint[]) and ${ENDED}
          and completed_at < now() - ${days} * interval '1 day'
          and ${JUDGED}
        returning id, job_no, workspace),
      of_workspaces as (insert into pruned_workspaces (workspace) select distinct workspace from removed
                        on conflict (workspace) do update set pruned_at = now()),
      of_steps as (delete from steps where run_id in (select id from removed)),
      of_artifacts as (delete from artifacts where run_id in (select id from removed)),
      of_observations as (delete from observations where run_id in (select id from removed)),
      of_scans as (delete from scans where run_id in (select id from removed)),
      lost as (select job_no, count(*)::int as runs from removed group by job_no),
      smaller as (update jobs set target_count = target_count - lost.runs from lost
                  where jobs.id = lost.job_no and target_count > lost.runs),
      empty as (delete from jobs using lost where jobs.id = lost.job_no and target_count <= lost.runs)
      select count(*) as removed from removed
    `.execute(tx)
    return rows[0]?.removed ?? 0
  })
}
