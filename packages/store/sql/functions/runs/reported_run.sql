-- The run that events of a run name: for a batch of a loop, the run of the loop.
create or replace function reported_run(r runs) returns setof runs
language sql stable as $$
  select (r).* where (r).batch is null
  union all
  select l.* from (select parent_run from jobs where id = (r).job_no offset 0) j
  cross join lateral (select * from runs where id = j.parent_run offset 0) l
  where (r).batch is not null
$$;
