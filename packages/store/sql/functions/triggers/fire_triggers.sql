-- Fires all triggers of one event, in a fixed order, so that two events never wait for each other. An execution that
-- the database refuses does not stop the others. A conflict is raised to the caller, which repeats the whole call.
create or replace function fire_triggers(p_fire_key text, p_firings jsonb) returns jsonb
language plpgsql as $$
declare
  v_firing jsonb;
  v_fired jsonb := '[]';
begin
  for v_firing in select f from jsonb_array_elements(p_firings) f order by (f ->> 'trigger_key') collate "C" loop
    begin
      v_fired := v_fired || fire_trigger(p_fire_key, v_firing);
    exception
      when deadlock_detected or serialization_failure or lock_not_available then raise;
      when others then
        v_fired := v_fired || jsonb_build_object('trigger_key', v_firing ->> 'trigger_key', 'outcome', 'failed',
                                                 'error', sqlerrm);
    end;
  end loop;
  return v_fired;
end $$;
