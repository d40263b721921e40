-- Runs whose logs somebody follows: their workers store live copies until then. Lost in a crash, and renewed.
create unlogged table log_follows (
  run_id bigint primary key, -- refers to runs
  until timestamptz not null
);
