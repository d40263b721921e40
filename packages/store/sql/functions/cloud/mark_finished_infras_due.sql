-- Marks infrastructures as due that are to be destroyed after the last run of their jobs.
create or replace function mark_finished_infras_due(p_ids bigint[]) returns void
language plpgsql
-- planner: walk
as $$
declare
  v_no bigint;
begin
  for v_no in
    select f.id
    from (select distinct job_no from runs where id = any(p_ids)) r
    cross join lateral (select * from jobs where id = r.job_no offset 0) j
    join cloud_infras f on f.id = j.infra_no
    where f.auto_destroy and f.status = 'ready' and not exists (
      select from runs o
      where o.job_no = r.job_no and o.run_mode = 'cloud' and o.status in ('pending', 'queued', 'running') offset 0)
    order by f.id
  loop
    perform mark_infra_due(v_no);
  end loop;
end $$;
