-- Makes the next ranges of steps and event_logs. Returns how many it made. The caller holds the lock `partitions`, or
-- migrates: schema files call it before the table of locks exists.
create or replace function keep_all_partitions_ahead() returns int
language plpgsql as $$
begin
  return keep_partitions_ahead('steps', 'run_id', 'runs_id_seq', 1000000, 1)
       + keep_partitions_ahead('event_logs', 'id', 'event_logs_id_seq', 5000000, 1);
end $$;
