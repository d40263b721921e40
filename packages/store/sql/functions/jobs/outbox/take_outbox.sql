-- Takes ready rows of the given classes in the order of rank, and marks them as sent. Jobs of one rank get rows by the
-- share of their owner; the rows of a job are taken by age. Rows that were marked more than p_stale_ms ago come first:
-- their message may not have arrived. p_capacity[rank] limits the rows of each rank. The rows are collected before they are
-- marked: a join could read all rows for each of them.
create or replace function take_outbox(p_classes text[], p_capacity int[], p_limit int, p_stale_ms int)
returns table (run_id bigint, epoch int, rank smallint, class text, job_no bigint, owner text, weight int)
language plpgsql
-- planner: backlog
as $$
#variable_conflict use_column
declare
  v_ids bigint[] := array(
    select run_id from outbox
    where sent_at < now() - p_stale_ms * interval '1 ms' and class = any(p_classes) and run_mode = 'distributed'
    order by rank, run_id limit p_limit for update skip locked);
  v_taken bigint[] := v_ids;
  v_left int := p_limit - cardinality(v_ids);
  v_capacity int;
begin
  update outbox set sent_at = now(), delayed = false where run_id = any(v_ids);
  for v_rank in 1..4 loop
    v_capacity := least(v_left, p_capacity[v_rank]);
    while v_capacity > 0 loop
      v_ids := array(
        with waiting as materialized (
          select c.class, w.job_no, coalesce(s.weight, 1) / count(*) over (partition by j.submitted_by)::float8 as part
          from unnest(p_classes) as c(class)
          cross join lateral waiting_jobs(c.class, v_rank, greatest(v_capacity, 1000)) as w(job_no)
          join jobs j on j.id = w.job_no left join shares s on s.owner = j.submitted_by
        ), shared as materialized (
          select class, job_no, part, ceil(v_capacity * part / sum(part) over ())::int as most from waiting
        )
        select o.run_id from shared s cross join lateral (
          select run_id from outbox
          where class = s.class and rank = v_rank and job_no = s.job_no and ready and sent_at is null
            and run_mode = 'distributed'
          order by class, rank, job_no, run_id limit s.most for update skip locked
        ) o
        -- With less capacity than jobs, each of them is as likely to get some as its part is large.
        order by case when v_capacity < (select count(*) from shared) then -ln(1 - random()) / s.part end, o.run_id
        limit v_capacity);
      exit when cardinality(v_ids) = 0;
      update outbox set sent_at = now(), delayed = false where run_id = any(v_ids);
      v_taken := v_taken || v_ids;
      v_capacity := v_capacity - cardinality(v_ids);
      v_left := v_left - cardinality(v_ids);
    end loop;
  end loop;
  return query
    select o.run_id, o.epoch, o.rank, o.class, o.job_no, j.submitted_by, coalesce(s.weight, 1)
    from outbox o join jobs j on j.id = o.job_no left join shares s on s.owner = j.submitted_by
    where o.run_id = any(v_taken)
    order by o.rank, o.run_id;
end $$;
