-- Offers queued runs again whose queue message is used up: their outbox rows look like sent messages that may not
-- have arrived. p_waited shortens the usual wait of 10 seconds.
create or replace function delay_runs(p_ids bigint[], p_waited interval) returns void
language sql as $$
  insert into outbox (run_id, epoch, job_no, run_mode, rank, class, ready, instance_no, sent_at, delayed)
  select r.id, r.epoch, r.job_no, r.run_mode, priority_rank(j.priority), j.requirement_class, true, r.instance_no,
         now() - p_waited, true
  from runs r join jobs j on j.id = r.job_no
  where r.id = any(p_ids)
  order by r.id
  on conflict (run_id) do update set epoch = excluded.epoch, ready = true, sent_at = excluded.sent_at, delayed = true
$$;
