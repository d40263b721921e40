-- Up to p_count runs of a cloud job that become ready next: those of the machines with the least work. Null: none of
-- its waiting runs is bound.
create or replace function next_on_machines(p_job_no bigint, p_count int) returns bigint[]
language plpgsql
-- planner: walk
as $$
begin
  return (
    select array_agg(won.run_id)
    from (
      select waiting.run_id
      from jobs j
      join cloud_instances i on i.infra_no = j.infra_no and i.status || '' = 'ready'
      cross join lateral (
        select run_id, row_number() over (order by run_id) as n
        from (select run_id from outbox
              where instance_no = i.id and job_no = p_job_no and not ready and run_mode = 'cloud'
              order by run_id limit p_count) head
      ) waiting
      cross join lateral (
        select (select count(*) from runs where instance_no = i.id and status = 'running')
             + (select count(*) from (select from outbox
                                      where instance_no = i.id and ready and run_mode = 'cloud'
                                      limit 100) ahead) as load offset 0
      ) busy
      where j.id = p_job_no
      order by busy.load + waiting.n, waiting.run_id limit p_count
    ) chosen
    cross join lateral (
      select run_id from outbox where run_id = chosen.run_id and not ready for update skip locked
    ) won);
end $$;
