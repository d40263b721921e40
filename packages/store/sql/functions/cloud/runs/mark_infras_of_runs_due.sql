-- Marks the infrastructures of queued runs as due. Infrastructures that accept no runs end them.
create or replace function mark_infras_of_runs_due(p_ids bigint[]) returns void
language plpgsql
-- planner: batch
as $$
declare
  v_no bigint;
  v_ids bigint[];
begin
  for v_no, v_ids in
    select j.infra_no, array_agg(r.id order by r.id)
    from runs r cross join lateral (select * from jobs where id = r.job_no offset 0) j
    where r.id = any(p_ids) and j.infra_no is not null
    group by j.infra_no order by j.infra_no
  loop
    -- Locked: a concurrent move of the infrastructure would not see these runs.
    perform 1 from cloud_infras where id = v_no for no key update;
    perform mark_infra_due(v_no);
    perform end_runs_of_infra(v_no, v_ids);
  end loop;
end $$;
