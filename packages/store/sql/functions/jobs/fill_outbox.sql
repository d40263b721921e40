-- Puts queued runs of one job into the outbox, the first p_free of them ready (null: all). The infrastructure of a
-- cloud job may follow later in the same transaction (join_infra).
create or replace function fill_outbox(p_job jobs, p_ids bigint[], p_free int) returns void
language plpgsql as $$
begin
  if p_job.concurrency is not null then
    insert into slots (run_id, job_no) select id, p_job.id from unnest(p_ids[1:p_free]) id;
  end if;
  insert into outbox (run_id, epoch, job_no, run_mode, rank, class, ready)
  select id, 0, p_job.id, p_job.run_mode, priority_rank(p_job.priority), p_job.requirement_class,
         p_job.concurrency is null or n <= p_free
  from unnest(p_ids) with ordinality u(id, n);
  if p_job.infra_no is not null then
    perform mark_infras_of_runs_due(p_ids);
  end if;
end $$;
