-- Drops unused ranges of steps and event_logs and returns how many. One master at a time. Reads and writes wait
-- while a range is dropped. If the table is locked, the function stops after 500 ms and the next call tries again.
create or replace function drop_unused_partitions(p_days int) returns int
language plpgsql set lock_timeout = '500ms' as $$
declare
  v_part record;
  v_dropped int := 0;
begin
  if not try_lock('partitions') then
    return 0;
  end if;
  for v_part in
    select p.relname::text as parent, c.relname::text as name, b.bounds[1]::bigint as lower, b.bounds[2]::bigint as upper
    from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
    cross join lateral regexp_match(pg_get_expr(c.relpartbound, c.oid), 'FROM \(''(\d+)''\) TO \(''(\d+)''\)') as b(bounds)
    where i.inhparent in ('steps'::regclass, 'event_logs'::regclass) and b.bounds is not null
    order by 1, 3
  loop
    begin
      continue when not is_unused_partition(v_part.parent, v_part.name, v_part.lower, v_part.upper, p_days);
      execute format('lock table only %I in access exclusive mode', v_part.parent);
      if is_unused_partition(v_part.parent, v_part.name, v_part.lower, v_part.upper, p_days) then
        execute format('drop table %I', v_part.name);
        v_dropped := v_dropped + 1;
      end if;
    exception when lock_not_available then
      return v_dropped;
    end;
  end loop;
  return v_dropped;
-- Listing the ranges waits for locks too.
exception when lock_not_available then
  return 0;
end $$;
