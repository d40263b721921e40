-- Decides the executions of a cron trigger from p_from to p_until. Null: another master has decided them.
create or replace function fire_cron(p_key text, p_hash text, p_from timestamptz, p_until timestamptz, p_fires jsonb)
returns jsonb
language plpgsql as $$
declare
  v_fire jsonb;
  v_fired jsonb := '[]';
begin
  update trigger_clocks set handled_until = p_until, seen_at = now()
  where trigger_key = p_key and spec_hash = p_hash and handled_until = p_from;
  if not found then
    return null;
  end if;
  for v_fire in select f from jsonb_array_elements(p_fires) f loop
    v_fired := v_fired || emit_scheduled_event(v_fire);
  end loop;
  return v_fired;
end $$;
