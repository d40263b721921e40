-- Cancels the batches of loops of these runs that have not ended, or only those of one loop besides the job p_but.
create or replace function end_batches(p_run_ids bigint[], p_key text default null, p_but bigint default null) returns void
language plpgsql
-- planner: walk
as $$
declare
  v_jobs bigint[] := array(
    select id from jobs where parent_run = any(p_run_ids) and (p_key is null or loop_key = p_key)
      and id is distinct from p_but and cancel_requested_at is null);
begin
  if cardinality(v_jobs) = 0 then
    return;
  end if;
  update jobs set cancel_requested_at = now() where id = any(v_jobs);
  perform request_cancel(array(
    select r.id from unnest(v_jobs) j(id) cross join lateral (
      select id from runs where job_no = j.id and status || '' in ('pending', 'queued', 'running') offset 0) r));
end $$;
