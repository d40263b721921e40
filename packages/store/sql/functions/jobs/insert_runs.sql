-- Creates the runs of some targets of a job, with their outbox rows. p_uuid is the UUID of a single run (null: one
-- is generated). Runs of a cancelled job end at once. Returns the ids of the runs that fill_outbox marked as sent.
create or replace function insert_runs(p_job jobs, p_targets text[], p_workspaces text[], p_uuid uuid, p_send int)
returns bigint[]
language plpgsql as $$
declare
  v_ids bigint[];
  v_status text := case when p_job.cancel_requested_at is not null then 'cancelled'
                        when p_job.starts then 'queued' else 'pending' end;
begin
  with made as (
    insert into runs (run_uuid, job_no, workflow_name, run_mode, status, target, workspace, completed_at, outcome)
    select coalesce(p_uuid, gen_random_uuid()), p_job.id, p_job.workflow_name, p_job.run_mode, v_status,
           target, workspace, case v_status when 'cancelled' then now() end,
           case v_status when 'cancelled' then run_outcome(v_status, null) end
    from unnest(p_targets, p_workspaces) as u(target, workspace)
    returning id
  )
  select array_agg(id) into v_ids from made;
  if v_status <> 'queued' then
    return '{}';
  end if;
  return fill_outbox(p_job, v_ids, case when p_job.concurrency is not null then free_slots(p_job.id) end, p_send);
end $$;
