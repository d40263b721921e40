-- Whether a worker may start a suspect: a run that lost its worker before. A worker starts another suspect only when
-- the previous one has run for 10 seconds or has ended, and none beside a run that lost two workers. The next loss
-- then shows which run causes it.
create or replace function may_start_suspect(p_worker_id text) returns boolean
language sql stable as $$
  select not exists (
    select from runs
    where worker_id = p_worker_id and status = 'running'
      and (crashes > 1 or (crashes = 1 and claimed_at > now() - interval '10 s')))
$$;
