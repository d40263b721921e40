-- The connections or requests a second that a run gets: the smallest share of its limits. Null: they have no rate.
create or replace function rate_share(p_run_id bigint) returns int
language sql stable as $$
  select min(l.share) from limit_uses w cross join lateral limit_of(w.scope_no, w.kind) l where w.run_id = p_run_id
$$;
