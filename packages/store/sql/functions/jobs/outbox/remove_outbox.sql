-- Deletes the rows whose messages, each of a run and an epoch, are in the queue, unless a claim has put them back since.
create or replace function remove_outbox(p_ids bigint[], p_epochs int[]) returns void
language plpgsql
-- planner: batch
as $$
begin
  perform 1 from outbox where run_id = any(p_ids) order by run_id for update;
  delete from outbox o using unnest(p_ids, p_epochs) as t(run_id, epoch)
  where o.run_id = any(p_ids) and o.run_id = t.run_id and o.epoch = t.epoch
    and o.sent_at + interval '0' is not null and not o.delayed;
end $$;
