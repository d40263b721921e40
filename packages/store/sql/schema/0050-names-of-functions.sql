-- Functions that programs call have other names. A trigger uses this one: it cannot be dropped and created.
do $$
begin
  if to_regprocedure('tell_ended_steps()') is not null then
    alter function tell_ended_steps() rename to log_ended_steps;
  end if;
end $$;
