-- Marks the executions of a trigger as done whose runs have all ended.
create or replace function close_firings(p_trigger_key text) returns void
language sql as $$
  update trigger_firings f set state = 'done'
  where trigger_key = p_trigger_key and state = 'open'
    and not exists (select from runs r where r.job_no = f.job_no and r.status in ('pending', 'queued', 'running'))
$$;
