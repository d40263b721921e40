-- Records what an operator wants a process to do, and notifies the masters, whose slots may be meant.
create or replace function direct_worker(p_id text, p_wanted text) returns text
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
  update workers set wanted = p_wanted where id = p_id and wanted <> p_wanted;
  perform notify_masters();
  return 'ok';
end $$;
