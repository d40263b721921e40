-- Takes the shares of runs of the worker: one of each limit of the farm and of their scopes on the hosts in p_asks
-- ([{runId, attempt, spans: [{kind, lo, hi, label}]}]). Returns [{runId, attempt, share}] of those that the worker owns.
-- A share is {rate}, which is null without a limit of it, or {reason} if a limit has no share left: the worker then calls
-- wait_for_limits. Batches of a loop share what the run of the loop holds, in fractions if need be.
create or replace function worker.take_limits(p_secret text, p_asks jsonb) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp
-- planner: batch
as $$
declare
  v_ids bigint[] := lock_owned(p_secret, p_asks);
  v_id bigint;
  v_reason text;
  v_reasons jsonb := '{}';
begin
  perform 1 from farm_limits for update;
  delete from limit_uses where run_id = any(v_ids);
  insert into limit_uses (run_id, scope_no, kind, lo, hi, label, rate, until)
  select r.id, l.scope_no, s.kind, s.lo, s.hi, s.label, min(o.share) over (partition by r.id), 'infinity'
  from jsonb_to_recordset(p_asks) as a("runId" bigint, attempt int, spans jsonb)
  join runs r on r.id = a."runId" and r.attempt = a.attempt
  cross join lateral (select scope_no from jobs where id = r.job_no offset 0) j
  cross join lateral jsonb_to_recordset(a.spans) as s(kind text, lo text, hi text, label text)
  cross join lateral unnest(array[0::bigint] || scopes_of_run(j.scope_no, r.workspace)) as l(scope_no)
  cross join lateral limit_of(l.scope_no, s.kind) o
  where r.id = any(v_ids) and r.batch is null
  on conflict do nothing;
  -- Mostly all have a share. Otherwise the first ones get it.
  if works_once(null) or exists (select from limit_problems(v_ids)) then
    update limit_uses set until = null, rate = null where run_id = any(v_ids);
    foreach v_id in array v_ids loop
      v_reason := limit_problem(v_id);
      if v_reason is null then
        update limit_uses set until = 'infinity', rate = rate_share(v_id) where run_id = v_id;
      else
        v_reasons := v_reasons || jsonb_build_object(v_id, v_reason);
      end if;
    end loop;
  end if;
  return (
    select coalesce(jsonb_agg(jsonb_build_object('runId', r.id, 'attempt', r.attempt, 'share', case
      when v_reasons ? r.id::text then jsonb_build_object('reason', v_reasons -> r.id::text)
      when r.batch is null then jsonb_build_object('rate', (select min(rate) from limit_uses where run_id = r.id))
      else (
        select jsonb_build_object('rate', case when workers > share then trunc(share::numeric / workers, 3)
                                               else share / workers end)
        from (select rate_share(j.parent_run) as share, coalesce(j.concurrency, farm_slots()) as workers) parent)
      end)), '[]')
    from runs r cross join lateral (select parent_run, concurrency from jobs where id = r.job_no offset 0) j
    where r.id = any(v_ids));
end $$;
