-- Takes ready rows of the given classes in the order of rank and run id, and marks them as sent. Rows that were
-- marked more than p_stale_ms ago come first: their message may not have arrived. p_room[rank] limits the rows of
-- each rank. The rows are collected before they are marked: a join could read all rows for each of them.
create or replace function take_outbox(p_classes text[], p_room int[], p_limit int, p_stale_ms int) returns setof outbox
language plpgsql
-- planner: backlog
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_nestloop = on
set enable_mergejoin = off set jit = off
as $$
declare
  v_ids bigint[] := array(
    select run_id from outbox
    where sent_at < now() - p_stale_ms * interval '1 ms' and class = any(p_classes) and run_mode = 'distributed'
    order by rank, run_id limit p_limit for update skip locked);
  v_left int := p_limit - cardinality(v_ids);
begin
  return query update outbox set sent_at = now(), delayed = false where run_id = any(v_ids) returning *;
  for v_rank in 1..4 loop
    exit when v_left <= 0;
    v_ids := array(
      select o.run_id from unnest(p_classes) as c(class) cross join lateral (
        select run_id from outbox
        where class = c.class and rank = v_rank and ready and sent_at is null and run_mode = 'distributed'
        order by class, rank, run_id limit least(v_left, p_room[v_rank]) for update skip locked
      ) o
      order by o.run_id limit least(v_left, p_room[v_rank]));
    return query
      with marked as (update outbox set sent_at = now(), delayed = false where run_id = any(v_ids) returning *)
      select * from marked order by run_id;
    v_left := v_left - cardinality(v_ids);
  end loop;
end $$;
