-- Starts waiting trigger executions whose predecessors have ended. Returns how many.
create or replace function start_waiting(p_limit int) returns int
language plpgsql as $$
declare
  v_key text;
  v_next trigger_firings;
  v_started int := 0;
begin
  for v_key in
    select distinct trigger_key from trigger_firings where state = 'waiting' order by trigger_key limit p_limit
  loop
    continue when not try_lock('trigger ' || v_key);
    perform close_firings(v_key);
    continue when exists (select from trigger_firings where trigger_key = v_key and state = 'open');
    select * into v_next from trigger_firings where trigger_key = v_key and state = 'waiting'
    order by fired_at, fire_key limit 1 for update;
    continue when not found;
    perform start_run(id) from (
      select id from runs where job_no = v_next.job_no and status = 'pending' order by id) r;
    update trigger_firings set state = 'open' where trigger_key = v_key and fire_key = v_next.fire_key;
    v_started := v_started + 1;
  end loop;
  return v_started;
end $$;
