-- Defers a locked, queued run that could not be assigned to a worker. If another run has been assigned since its
-- first failure, the database works and the run ends as failed.
create or replace function defer_run(p_id bigint, p_reason text) returns void
language plpgsql as $$
declare
  v_run runs;
begin
  select * into v_run from runs where id = p_id and status = 'queued' for update;
  if not found then
    return;
  end if;
  if v_run.stuck_since is not null and exists (
    select from event_logs where id > v_run.stuck_since and topic = 'run.started'
  ) then
    perform end_runs(jsonb_build_array(jsonb_build_object('id', p_id, 'status', 'failed',
      'error', 'quarantined: no worker could take it, while others were taken: ' || left(p_reason, 1000))));
    return;
  end if;
  update runs set stuck_since = coalesce(stuck_since, (select last_value from event_logs_id_seq)), updated_at = now()
  where id = p_id;
  perform delay_runs(array[p_id], interval '0');
end $$;
