-- Takes the shares of a run of the worker: one of each limit of the farm and of its scopes on the hosts in p_spans
-- ({kind, lo, hi, label}). Returns {rate}, which is null without a limit of it, or {reason} if a limit has no share left:
-- the worker then calls wait_for_limits. Null: the worker does not own the run.
create or replace function worker.take_limits(p_secret text, p_run_id bigint, p_attempt int, p_spans jsonb) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  v_parent bigint;
  v_workers int;
  v_key jsonb := jsonb_build_array(jsonb_build_object('runId', p_run_id, 'attempt', p_attempt));
  v_reason text;
begin
  if lock_owned(p_secret, v_key) is null then
    return null;
  end if;
  select j.parent_run, coalesce(j.concurrency, farm_slots()) into v_parent, v_workers from runs r join jobs j on j.id = r.job_no
  where r.id = p_run_id and r.batch is not null;
  if v_parent is not null then
    -- The batches share what their parent holds, in fractions if need be.
    return jsonb_build_object('rate', case when v_workers > rate_share(v_parent)
      then trunc(rate_share(v_parent)::numeric / v_workers, 3) else rate_share(v_parent) / v_workers end);
  end if;
  perform 1 from farm_limits for update;
  delete from limit_uses where run_id = p_run_id;
  insert into limit_uses (run_id, scope_no, kind, lo, hi, label)
  select p_run_id, l.scope_no, s.kind, s.lo, s.hi, s.label
  from runs r
  join jobs j on j.id = r.job_no
  cross join jsonb_to_recordset(p_spans) as s(kind text, lo text, hi text, label text)
  cross join unnest(array[0::bigint] || scopes_of_run(j.scope_no, r.workspace)) as l(scope_no)
  where r.id = p_run_id and exists (select from limit_of(l.scope_no, s.kind))
  on conflict do nothing;
  v_reason := limit_problem(p_run_id);
  if v_reason is not null then
    return jsonb_build_object('reason', v_reason);
  end if;
  update limit_uses set until = 'infinity', rate = rate_share(p_run_id) where run_id = p_run_id;
  return jsonb_build_object('rate', rate_share(p_run_id));
end $$;
