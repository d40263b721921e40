-- Ends runs. Every run ends here: its status, its open steps, its event, its outbox row and its slot, which passes
-- to the next run of the job in the same transaction. p_ends is an array of {id, status, error, pids, reported,
-- total_steps, completed_steps, facts, tally}; the last four are the last progress of a run, or missing. Runs that may
-- not move to that status are left unchanged. Identical runs that wait may end with them (joined_ends). Returns the ids
-- of the runs that ended.
create or replace function end_runs(p_ends jsonb) returns bigint[]
language plpgsql
-- planner: batch
as $$
declare
  v_named bigint[] := array(select id from jsonb_to_recordset(p_ends) as e(id bigint));
  v_ids bigint[];
  v_completed_is_wanted boolean := event_is_wanted('run.completed');
  v_failed_is_wanted boolean := event_is_wanted('run.failed');
  v_cancelled_is_wanted boolean := event_is_wanted('run.cancelled');
begin
  perform 1 from runs where id = any(v_named) order by id for update;
  p_ends := p_ends || joined_ends(p_ends);
  v_named := array(select id from jsonb_to_recordset(p_ends) as e(id bigint));

  with ended as (
    update runs r
    set status = e.status,
        completed_at = now(),
        updated_at = now(),
        current_pid = 0,
        total_steps = coalesce(e.total_steps, r.total_steps),
        completed_steps = least(coalesce(e.completed_steps, r.completed_steps), coalesce(e.total_steps, r.total_steps)),
        facts = case when e.facts is null then r.facts else r.facts || e.facts end,
        error_message = coalesce(nullif(e.error, ''), r.error_message),
        killed_pids = coalesce(e.pids, '{}'),
        reported_attempt = case when e.reported then r.attempt else r.reported_attempt end,
        -- Without a last report of its worker the tally may lack steps: all their rows are counted.
        tally = case when e.reported or r.attempt = 0 then coalesce(e.tally, r.tally) else
          coalesce(r.tally, '{}') || jsonb_build_object('failedSteps', greatest(tally_count(r.tally, 'failedSteps'), (
            select count(*) from steps s
            where s.run_id = r.id and s.attempt = r.attempt
              and (s.status = 'failed' or (s.status = 'running' and e.status <> 'cancelled'))))) end,
        outcome = run_outcome(e.status, coalesce(e.tally, r.tally))
    from jsonb_to_recordset(p_ends) as e(id bigint, status text, error text, pids int[], reported boolean,
      total_steps int, completed_steps int, facts jsonb, tally jsonb)
    where r.id = any(v_named) and r.id = e.id and r.status = any(run_sources(e.status))
    returning r.id
  )
  select array_agg(id order by id) into v_ids from ended;
  if v_ids is null then
    return '{}';
  end if;

  update steps s
  set status = case when s.status = 'pending' or r.status = 'cancelled' then 'cancelled' else 'failed' end,
      completed_at = now(),
      error_message = case when s.error_message <> '' then s.error_message
                           when s.status = 'pending' then 'the run ended before this step'
                           else 'the run ended while this step was running' end
  from runs r
  where r.id = any(v_ids) and s.run_id = any(v_ids)
    and s.run_id = r.id and s.attempt = r.attempt and s.status in ('pending', 'running');

  insert into event_logs (topic, event_id, name, source, data_type, data, workspace, run_id, workflow_name,
                          processed, processed_at)
  select e.topic, format('evt_%s_%s_end', replace(r.run_uuid::text, '-', ''), r.attempt), e.topic, 'executor', 'scan',
         run_event_data(r, j), r.workspace, r.run_uuid::text, r.workflow_name,
         not w.wanted, case when w.wanted then null else now() end
  from runs r
  cross join lateral (select * from jobs where id = r.job_no offset 0) j
  cross join lateral (select 'run.' || r.status as topic) e
  cross join lateral (select case r.status when 'completed' then v_completed_is_wanted
                      when 'failed' then v_failed_is_wanted else v_cancelled_is_wanted end as wanted) w
  where r.id = any(v_ids) and r.batch is null
  order by r.id;

  -- Findings that these runs should have tested; a run that is cancelled before its start should not.
  insert into unclean_runs (run_id)
  select r.id from runs r cross join lateral (
    select from scopes s where (s.workspace, s.workflow_name, s.target) = (r.workspace, r.workflow_name, r.target)
    limit 1 offset 0) scanned
  where r.id = any(v_ids) and r.batch is null and r.outcome || '' <> 'clean' and (r.status || '' <> 'cancelled' or r.attempt > 0)
  on conflict do nothing;

  delete from outbox where run_id = any(v_ids);
  perform pass_slots(v_ids);
  if exists (select from runs where id = any(v_ids) and run_mode || '' = 'cloud') then
    perform mark_finished_infras_due(v_ids);
  end if;
  perform end_batches(v_ids);
  perform free_limits(v_ids);
  perform wake_twins(v_ids);
  return v_ids;
end $$;
