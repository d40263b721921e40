-- Records what a scan saw.
create or replace function record_sightings(p_run runs, p_scope_id bigint, p_kind text, p_ids bigint[], p_seen jsonb[])
returns void
language plpgsql as $$
begin
  insert into observations (run_id, attempt, kind, record_id, seen)
  select p_run.id, p_run.attempt, p_kind, s.id, s.seen from unnest(p_ids, p_seen) as s(id, seen)
  order by s.id
  on conflict (run_id, attempt, kind, record_id) do update set seen = excluded.seen;

  insert into sightings as s (kind, record_id, scope_id, run_id, attempt)
  select p_kind, r.record_id, p_scope_id, p_run.id, p_run.attempt from unnest(p_ids) as r(record_id)
  order by r.record_id
  on conflict (kind, record_id, scope_id) do update set run_id = excluded.run_id, attempt = excluded.attempt
  where (s.run_id, s.attempt) < (excluded.run_id, excluded.attempt);
end $$;
