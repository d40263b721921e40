-- Records what an operator wants a process to do, and notifies the masters, whose slots may be meant. A worker that is
-- stopped waits for its runs for p_for_ms; null: its program ends as after SIGTERM.
create or replace function direct_worker(p_id text, p_wanted text, p_for_ms bigint) returns text
language plpgsql as $$
declare
  v_worker workers;
begin
  select * into v_worker from workers where id = p_id for update;
  if not found then
    return 'unknown';
  elsif v_worker.lost_at is not null or v_worker.lease_until < now() then
    return 'lost';
  elsif p_wanted = 'stopped' and v_worker.kind = 'server' then
    return 'slots';
  elsif p_wanted <> 'stopped' and v_worker.wanted = 'stopped' then
    return 'stopping';
  end if;
  update workers set wanted = p_wanted, drain_until = now() + p_for_ms * interval '1 ms' where id = p_id;
  perform notify_masters();
  return 'ok';
end $$;
