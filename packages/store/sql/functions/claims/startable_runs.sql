-- The runs among locked ones that a worker may start now: all that are not suspects, and at most one suspect.
create or replace function startable_runs(p_worker_id text, p_ids bigint[]) returns bigint[]
language plpgsql
-- planner: batch
as $$
declare
  v_suspects bigint[] := array(select id from runs where id = any(p_ids) and crashes > 0 order by id);
begin
  if cardinality(v_suspects) = 0 then
    return p_ids;
  end if;
  if may_start_suspect(p_worker_id) then
    v_suspects := v_suspects[2:];
  end if;
  return array(select id from unnest(p_ids) id where id <> all(v_suspects));
end $$;
