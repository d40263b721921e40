-- Claims runs from the queue. Of all workers that hold a message for the same epoch, one gets the run. Null for a
-- worker that is unknown or lost: an empty list would mean that its messages are void for every worker.
create or replace function worker.claim(p_secret text, p_worker_id text, p_run_ids bigint[], p_epochs int[])
returns json
language plpgsql security definer set search_path = pg_catalog, public, pg_temp
-- planner: batch
as $$
declare
  v_ids bigint[];
  v_fit bigint[];
begin
  if not renew_lease(p_secret, p_worker_id, null, null) then
    return null;
  end if;
  select array_agg(r.id) into v_ids
  from (select id, epoch from runs
        where id = any(p_run_ids) and status || '' = 'queued' and run_mode || '' = 'distributed'
        order by id offset 0 for update) r
  join unnest(p_run_ids, p_epochs) as t(run_id, epoch) on t.run_id = r.id and t.epoch = r.epoch;
  if v_ids is null then
    return '[]';
  end if;
  v_fit := startable_runs(p_worker_id, v_ids);
  if cardinality(v_fit) < cardinality(v_ids) then
    perform delay_runs(array(select id from unnest(v_ids) id where id <> all(v_fit)), interval '10 s' - interval '2 s');
  end if;
  return case when cardinality(v_fit) = 0 then '[]' else try_assign_runs(p_worker_id, v_fit) end;
end $$;
