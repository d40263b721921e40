-- Puts queued runs of one job into the outbox, the first p_free of them ready (null: all). The infrastructure of a
-- cloud job may follow later in the same transaction (join_infra). Up to p_send ready rows are marked as sent, and their
-- ids are returned: the caller adds their messages to the queue after its commit. None are, while others of the job or more
-- urgent runs of its class wait to be sent, and only a few while others of its rank do: the queue shares between jobs.
create or replace function fill_outbox(p_job jobs, p_ids bigint[], p_free int, p_send int) returns bigint[]
language plpgsql
-- planner: walk
as $$
declare
  v_first smallint;
  v_rank int := priority_rank(p_job.priority);
  v_send int := 0;
begin
  if p_send > 0 and p_job.run_mode = 'distributed' then
    v_first := (
      select rank from outbox
      where class = p_job.requirement_class and ready and sent_at is null and run_mode = 'distributed'
      order by class, rank, job_no, run_id limit 1);
    if v_first is null or v_first > v_rank then
      v_send := least(p_send, p_free);
    elsif v_first = v_rank and not exists (
      select from outbox
      where class = p_job.requirement_class and rank = v_rank and job_no = p_job.id and ready and sent_at is null
        and run_mode = 'distributed'
    ) then
      v_send := least(p_send, p_free, 100);
    end if;
  end if;
  if p_job.concurrency is not null then
    insert into slots (run_id, job_no) select id, p_job.id from unnest(p_ids[1:p_free]) id;
  end if;
  insert into outbox (run_id, epoch, job_no, run_mode, rank, class, ready, sent_at)
  select id, 0, p_job.id, p_job.run_mode, v_rank, p_job.requirement_class,
         p_job.concurrency is null or n <= p_free, case when n <= v_send then now() end
  from unnest(p_ids) with ordinality u(id, n);
  if p_job.infra_no is not null then
    perform mark_infras_of_runs_due(p_ids);
  end if;
  return p_ids[1:v_send];
end $$;
