-- Hosts that a run may have sent traffic to, except those that its target names in their usual form: items of loops, URLs
-- of requests, addresses of names.
create table destinations (
  -- A name, an address or a network; "*": any.
  host text collate "C" not null,
  run_id bigint not null, -- refers to runs
  place text collate "C" not null,
  primary key (host, run_id, place)
);
create index destinations_run on destinations (run_id);
