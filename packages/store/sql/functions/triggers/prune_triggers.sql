-- Deletes expired trigger state: old trigger executions, expired dedupe keys, and topics that no master has repeated
-- for a while.
create or replace function prune_triggers(p_days int, p_topics_ms bigint) returns void
language sql as $$
  delete from trigger_firings
  where state in ('done', 'skipped') and fired_at < now() - greatest(p_days, 1) * interval '1 day';
  delete from trigger_dedupe where until < now();
  delete from locks l
  where name ^@ 'trigger ' and not exists (select from trigger_firings where trigger_key = substr(l.name, 9));
  delete from trigger_topics where seen_at < now() - p_topics_ms * interval '1 ms';
$$;
