-- Records the last updates of runs and ends them, in the same order of keys. A cancel that was requested meanwhile
-- wins. A repeated report is accepted and changes nothing: the answer to the first one may have been lost. Returns
-- the keys that the caller no longer owns.
create or replace function worker.finish(p_secret text, p_updates jsonb, p_ends jsonb) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp
-- planner: batch
as $$
declare
  v_ids bigint[] := lock_owned(p_secret, p_updates);
  v_ends jsonb;
  v_named bigint[];
begin
  perform write_records(p_updates, v_ids);
  if p_ends @? '$[*].part' then
    perform part_batches(v_ids, p_ends);
  end if;
  select jsonb_agg(jsonb_build_object(
    'id', r.id,
    'status', case when r.cancel_requested_at is null then e.status else 'cancelled' end,
    'error', case when e."errorMessage" = '' and r.cancel_requested_at is not null then 'cancelled on request'
                  else e."errorMessage" end,
    'pids', e."killedPids", 'reported', true, 'total_steps', u."totalSteps", 'completed_steps', u."completedSteps",
    'facts', u.facts, 'tally', u.tally))
  into v_ends
  from jsonb_to_recordset(p_ends)
    as e("runId" bigint, attempt int, status text, "errorMessage" text, "killedPids" jsonb)
  join jsonb_to_recordset(p_updates)
    as u("runId" bigint, attempt int, "totalSteps" int, "completedSteps" int, facts jsonb, tally jsonb)
    on u."runId" = e."runId" and u.attempt = e.attempt
  join runs r on r.id = e."runId" and r.attempt = e.attempt
  where r.id = any(v_ids);
  if v_ends is not null then
    v_ids := end_runs(v_ends);
  end if;
  if cardinality(v_ids) = jsonb_array_length(p_ends) then
    return '[]';
  end if;
  v_named := array(select "runId" from jsonb_to_recordset(p_ends) as e("runId" bigint));
  return unowned_keys(p_ends, v_ids || array(
    select id from runs where id = any(v_named) and reported_attempt = attempt));
end $$;
