-- Records progress, steps, artifacts and events of running runs of the process with this secret. Only runs whose present attempt is the one in
-- p_updates are written. Each (run, attempt) occurs once in p_updates. Returns the ids of the runs that were
-- written.
create or replace function apply_updates(p_secret text, p_updates jsonb) returns bigint[]
language plpgsql
-- planner: batch
as $$
declare
  v_ids bigint[] := lock_owned(p_secret, p_updates);
begin
  if v_ids is null then
    return '{}';
  end if;

  update runs r
  set total_steps = coalesce(u."totalSteps", r.total_steps),
      completed_steps = least(coalesce(u."completedSteps", r.completed_steps), coalesce(u."totalSteps", r.total_steps)),
      current_pid = coalesce(u."currentPid", r.current_pid),
      facts = case when u.facts is null then r.facts else r.facts || u.facts end,
      tally = coalesce(u.tally, r.tally),
      updated_at = now()
  from jsonb_to_recordset(p_updates)
    as u("runId" bigint, attempt int, "totalSteps" int, "completedSteps" int, "currentPid" int, facts jsonb, tally jsonb)
  where r.id = any(v_ids) and r.id = u."runId" and r.attempt = u.attempt;

  perform write_records(p_updates, v_ids);
  return v_ids;
end $$;
