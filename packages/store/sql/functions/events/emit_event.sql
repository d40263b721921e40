-- Inserts an event and makes what it triggers.
create or replace function emit_event(p_event jsonb, p_error text, p_firings jsonb) returns jsonb
language plpgsql as $$
declare
  v_id bigint := insert_event(p_event, true, p_error);
  v_fired jsonb := fire_triggers('event:' || v_id, p_firings);
  v_error text := with_errors(p_error, v_fired);
begin
  if v_error <> p_error then
    update event_logs set error = v_error where id = v_id;
  end if;
  return v_fired;
end $$;
