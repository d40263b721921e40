-- Fires one trigger: {trigger_key, overlap, dedupe_key, dedupe_ms, schedule_id, job, targets, workspaces, uuid, refused}.
-- `refused` is the reason if no target is left.
-- Returns {trigger_key, outcome, error, cancelled, job_id, refused}: the last is the number of refused targets, outcome is 'fired', 'queued', 'deduped', 'skipped' or
-- 'repeated', and cancelled lists running runs with a new cancel request. An execution has a unique key (trigger and
-- event, time or state of a file), so it happens exactly once. Locks: the event or clock, the trigger (a row of locks),
-- then those of the job.
create or replace function fire_trigger(p_fire_key text, p_firing jsonb) returns jsonb
language plpgsql as $$
declare
  v_key text := p_firing ->> 'trigger_key';
  v_overlap text := coalesce(p_firing ->> 'overlap', 'allow');
  v_state text := 'done';
  v_open boolean := false;
  v_cancelled bigint[] := '{}';
  v_made jsonb;
begin
  insert into trigger_firings (trigger_key, fire_key, state) values (v_key, p_fire_key, 'skipped')
  on conflict do nothing;
  if not found then
    return jsonb_build_object('trigger_key', v_key, 'outcome', 'repeated');
  end if;

  if v_overlap <> 'allow' then
    perform acquire_lock('trigger ' || v_key);
    perform close_firings(v_key);
    v_open := exists (select from trigger_firings where trigger_key = v_key and state in ('open', 'waiting'));
    if v_open and v_overlap = 'skip' then
      return jsonb_build_object('trigger_key', v_key, 'outcome', 'skipped');
    end if;
  end if;

  if p_firing ->> 'dedupe_key' is not null then
    insert into trigger_dedupe as d (trigger_key, dedupe_key, until)
    values (v_key, p_firing ->> 'dedupe_key',
            clock_timestamp() + (p_firing ->> 'dedupe_ms')::bigint * interval '1 ms')
    on conflict (trigger_key, dedupe_key) do update set until = excluded.until where d.until <= clock_timestamp();
    if not found then
      return jsonb_build_object('trigger_key', v_key, 'outcome', 'deduped');
    end if;
  end if;

  if p_firing ->> 'refused' is not null then
    perform record_refusals(null, p_firing -> 'job' -> 'refusals');
    return jsonb_build_object('trigger_key', v_key, 'outcome', 'failed', 'error', p_firing ->> 'refused',
                              'refused', p_firing -> 'job' -> 'refused');
  end if;

  if v_overlap <> 'allow' then
    if v_open and v_overlap = 'cancel-previous' then
      select coalesce(array_agg(c.id) filter (where c.status = 'running'), '{}') into v_cancelled
      from request_cancel(array(
        select r.id from trigger_firings f join runs r on r.job_no = f.job_no
        where f.trigger_key = v_key and f.state in ('open', 'waiting') order by r.id)) c;
    end if;
    v_state := case when v_open and v_overlap = 'queue' then 'waiting' else 'open' end;
  end if;

  v_made := submit_job((p_firing -> 'job') || jsonb_build_object('starts', v_state <> 'waiting'),
    array(select jsonb_array_elements_text(p_firing -> 'targets')),
    array(select jsonb_array_elements_text(p_firing -> 'workspaces')), (p_firing ->> 'uuid')::uuid, false, null);
  update trigger_firings set state = v_state, job_no = (v_made ->> 'job_no')::bigint
  where trigger_key = v_key and fire_key = p_fire_key;
  update schedules set last_run = now(), run_count = run_count + 1 where id = p_firing ->> 'schedule_id';
  return jsonb_build_object('trigger_key', v_key, 'cancelled', to_jsonb(v_cancelled),
                            'job_id', p_firing -> 'job' -> 'job_id', 'refused', p_firing -> 'job' -> 'refused',
                            'outcome', case v_state when 'waiting' then 'queued' else 'fired' end);
end $$;
