-- Whether all ids of a range have been used and nothing needs its rows. A range of steps is unused when none of its
-- runs exists. A range of events is unused when it is empty or its newest event is older than p_days (null: events
-- are kept whatever their age).
create or replace function is_unused_partition(p_parent text, p_name text, p_from bigint, p_to bigint, p_days int)
returns boolean
language plpgsql as $$
declare
  v_last bigint;
  v_newest timestamptz;
begin
  execute format('select last_value from %I', case p_parent when 'steps' then 'runs_id_seq' else 'event_logs_id_seq' end)
  into v_last;
  if v_last < p_to or (p_parent = 'steps' and exists (select from runs where id >= p_from and id < p_to)) then
    return false;
  end if;
  execute format('select created_at from %I order by %I desc limit 1', p_name,
    case p_parent when 'steps' then 'run_id' else 'id' end) into v_newest;
  return v_newest is null
    or (p_parent = 'event_logs' and p_days is not null and v_newest < now() - p_days * interval '1 day');
end $$;
