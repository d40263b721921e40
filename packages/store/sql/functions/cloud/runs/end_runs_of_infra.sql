-- Ends runs of an infrastructure that accepts no more: waiting ones at once, and running ones too, unless they are
-- to be cancelled; then the master that executes them ends them. Returns the runs with a new cancel request.
create or replace function end_runs_of_infra(p_infra_no bigint, p_ids bigint[]) returns bigint[]
language plpgsql
-- planner: batch
as $$
declare
  v_infra cloud_infras;
  v_asked bigint[];
begin
  select * into v_infra from cloud_infras where id = p_infra_no;
  if v_infra.ends_runs_as is null then
    return '{}';
  end if;
  perform 1 from runs where id = any(p_ids) order by id for update;
  if v_infra.ends_runs_as = 'cancelled' then
    with asked as (
      update runs set cancel_requested_at = now(), updated_at = now()
      where id = any(p_ids) and status || '' = 'running' and cancel_requested_at is null
      returning id
    )
    select array_agg(id order by id) into v_asked from asked;
  end if;
  perform end_runs(jsonb_agg(jsonb_build_object(
    'id', id, 'error', v_infra.end_reason,
    'status', case when cancel_requested_at is null then v_infra.ends_runs_as else 'cancelled' end)))
  from runs
  where id = any(p_ids)
    and (status || '' = 'queued' or (status || '' = 'running' and v_infra.ends_runs_as = 'failed'))
  having count(*) > 0;
  return coalesce(v_asked, '{}');
end $$;
