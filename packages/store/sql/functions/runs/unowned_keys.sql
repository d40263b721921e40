-- The keys among p_keys ({runId, attempt}) that are not the present attempt of a run in p_ids.
create or replace function unowned_keys(p_keys jsonb, p_ids bigint[]) returns jsonb
language plpgsql
-- planner: batch
as $$
begin
  return coalesce(jsonb_agg(jsonb_build_object('runId', k."runId", 'attempt', k.attempt)), '[]')
  from jsonb_to_recordset(p_keys) as k("runId" bigint, attempt int)
  where not exists (
    select 1 from runs r where r.id = any(p_ids) and r.id = k."runId" and r.attempt = k.attempt);
end $$;
