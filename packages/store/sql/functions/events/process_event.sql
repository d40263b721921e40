-- Marks an event as processed and makes what it triggers. Null: another master has processed it.
create or replace function process_event(p_id bigint, p_error text, p_firings jsonb) returns jsonb
language plpgsql as $$
declare
  v_fired jsonb;
begin
  perform 1 from event_logs where id = p_id and not processed for update;
  if not found then
    return null;
  end if;
  v_fired := fire_triggers('event:' || p_id, p_firings);
  update event_logs
  set processed = true, processed_at = now(), claimed_until = null, error = with_errors(p_error, v_fired)
  where id = p_id;
  return v_fired;
end $$;
