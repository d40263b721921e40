import { sql, type Kysely } from 'kysely'

/** The question of a worker that finds something of an attempt on its machine: is anybody still at it? */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  await sql.raw(LIVE).execute(db)
}

const LIVE = `
-- Those of some runs that are being executed, with the attempt that is. One search in the index for each of them.
create function worker.live_attempts(p_run_uuids uuid[]) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off set jit = off as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object('runUuid', run_uuid, 'attempt', attempt)), '[]')
    from runs where run_uuid = any(p_run_uuids) and status || '' = 'running');
end $$;

revoke all on function worker.live_attempts(uuid[]) from public;
do $$
begin
  if exists (select from pg_roles where rolname = 'scanfarm_worker') then
    perform grant_worker_role('scanfarm_worker');
  end if;
end $$;
`
