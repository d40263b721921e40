-- Runs whose logs a client follows: their workers store live copies until the given time. A crash may empty the table; masters renew the rows.
create unlogged table log_follows (
  run_id bigint primary key, -- refers to runs
  until timestamptz not null
);
