-- Takes the runs off machines: running ones return to queued, waiting ones are bound again. A run that lost more
-- than 5 machines is given up: it may be the cause. Runs are locked by id over all machines of the call together,
-- then the outbox. Returns how many were running. The slots of a machine bound its running runs; of the waiting ones a
-- call moves up to 2,000, and the next calls of bind_runs move the others.
create or replace function move_runs_off_instances(p_instance_nos bigint[], p_message text) returns int
language plpgsql
-- planner: walk
as $$
declare
  v_most_waiting constant int := 1000;
  v_ids bigint[];
  v_why text := 'the machine was lost' || coalesce(': ' || nullif(p_message, ''), '');
  v_end_reason text := (
    select nullif(f.end_reason, '') from cloud_instances i join cloud_infras f on f.id = i.infra_no
    where i.id = any(p_instance_nos) limit 1);
begin
  v_ids := array(
    select id from runs where instance_no = any(p_instance_nos) and status = 'running'
    union (select run_id from outbox
           where run_mode = 'cloud' and ready and instance_no = any(p_instance_nos) limit v_most_waiting)
    union (select run_id from outbox
           where run_mode = 'cloud' and not ready and instance_no = any(p_instance_nos) limit v_most_waiting));
  perform 1 from runs where id = any(v_ids) order by id for update;

  update runs set instance_no = null
  where id = any(v_ids) and instance_no = any(p_instance_nos) and status || '' = 'queued';
  update outbox set instance_no = null where run_id = any(v_ids) and instance_no = any(p_instance_nos);

  with moved as (
    update runs set moves = moves + 1
    where id = any(v_ids) and instance_no = any(p_instance_nos) and status || '' = 'running' returning id
  )
  select array_agg(id) into v_ids from moved;
  if v_ids is null then
    return 0;
  end if;
  perform end_runs(jsonb_agg(jsonb_build_object(
    'id', id,
    'status', case when cancel_requested_at is null then 'failed' else 'cancelled' end,
    'error', case when cancel_requested_at is null
      then format('given up: machines were lost under this, %s times; the last one: %s', moves, coalesce(p_message, ''))
      else coalesce(v_end_reason, 'cancelled on request; ' || v_why) end)))
  from runs where id = any(v_ids) and (cancel_requested_at is not null or moves > 5)
  having count(*) > 0;
  return cardinality(requeue_runs(v_ids, v_why));
end $$;
