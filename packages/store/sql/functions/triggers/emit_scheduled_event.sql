-- Writes the event that a scheduled trigger fired, in the transaction that creates its job.
create or replace function emit_scheduled_event(p_fire jsonb) returns jsonb
language plpgsql as $$
declare
  v_fired jsonb := case when p_fire -> 'firing' = 'null' then '[]'
                        else fire_triggers(p_fire ->> 'fire_key', jsonb_build_array(p_fire -> 'firing')) end;
  v_outcome text := v_fired -> 0 ->> 'outcome';
  v_wanted boolean := event_is_wanted('schedule.triggered');
begin
  if v_outcome is distinct from 'repeated' then
    perform insert_event(p_fire -> 'event', not v_wanted, with_errors(
      case when v_outcome = 'skipped' then 'skipped: the runs of the last firing have not ended'
           else p_fire ->> 'error' end, v_fired));
  end if;
  return v_fired;
end $$;
