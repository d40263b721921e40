-- Locks up to p_limit waiting local runs in order of priority. Rows that another server is taking are skipped, never
-- waited for: runs are locked in order of priority here, which is not the order of their ids. A deferred
-- run is offered again after 10 seconds.
create or replace function lock_local_runs(p_limit int, p_suspects boolean) returns setof bigint
language sql
-- planner: walk
as $$
  select won.id
  from (
    select run_id from outbox
    where run_mode = 'local' and ready and (sent_at is null or sent_at < now() - interval '10 s')
    order by rank, run_id
  ) o
  cross join lateral (
    select id from runs
    where id = o.run_id and status || '' = 'queued' and (p_suspects or crashes = 0)
    for update skip locked
  ) won
  limit p_limit
$$;
