-- Cancels waiting runs at once and requests the cancel of running ones. Returns one row for each run that had not
-- ended.
create or replace function request_cancel(p_ids bigint[])
returns table (id bigint, run_uuid uuid, worker_id text, was text, status text)
language plpgsql
-- planner: batch
as $$
#variable_conflict use_column
declare
  v_waiting bigint[];
  v_running bigint[];
begin
  perform 1 from runs where id = any(p_ids) order by id for update;
  select array_agg(id) filter (where status <> 'running'), array_agg(id) filter (where status = 'running')
  into v_waiting, v_running
  from runs where id = any(p_ids) and status || '' = any(run_sources('cancelled'));
  update runs set cancel_requested_at = coalesce(cancel_requested_at, now()), updated_at = now()
  where id = any(v_running);
  return query select r.id, r.run_uuid, r.worker_id, r.status,
                      case r.status when 'running' then 'running' else 'cancelled' end
               from runs r where r.id = any(v_waiting || v_running) order by r.id;
  if v_waiting is not null then
    perform end_runs((select jsonb_agg(jsonb_build_object('id', id, 'status', 'cancelled',
                                                          'error', 'cancelled on request')) from unnest(v_waiting) id));
  end if;
end $$;
