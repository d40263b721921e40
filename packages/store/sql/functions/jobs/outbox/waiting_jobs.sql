-- The first p_limit jobs of a class and rank with runs that the dispatcher may send. The cost does not depend on how many
-- runs they have.
create or replace function waiting_jobs(p_class text, p_rank int, p_limit int) returns setof bigint
language sql
-- planner: walk
as $$
  with recursive waiting as (
    (select job_no from outbox
     where class = p_class and rank = p_rank and ready and sent_at is null and run_mode = 'distributed'
     order by class, rank, job_no limit 1)
    union all
    select (select o.job_no from outbox o
            where o.class = p_class and o.rank = p_rank and o.ready and o.sent_at is null and o.run_mode = 'distributed'
              and o.job_no > w.job_no
            order by o.class, o.rank, o.job_no limit 1)
    from waiting w where w.job_no is not null
  )
  select job_no from waiting where job_no is not null limit p_limit
$$;
