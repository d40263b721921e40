-- Saves findings: items that change nothing only count as seen, others are saved by save_changed_findings. A record counts
-- as seen once for each run, and once for each import without a run. Records that change are locked before sightings,
-- and sightings in the order of ids, so that an import does not deadlock with a judge of scans.
create or replace function save_vulnerabilities(p_workspace text, p_items jsonb, p_run_id bigint, p_source text,
  p_import uuid, p_part int)
returns setof saved_record
language plpgsql
as $$
declare
  v_contents bytea[] := array(select decode(i ->> 'content', 'hex') from jsonb_array_elements(p_items) i);
  v_times int[] := array(select coalesce((i ->> 'occurrences')::int, 1) from jsonb_array_elements(p_items) i);
  v_known bytea[];
  v_known_ids bigint[];
  v_known_times int[];
  v_seen bytea[];
  v_ids bigint[];
  v_merged boolean[];
begin
  perform set_config('scanfarm.changing_run', coalesce(p_run_id::text, ''), true);
  select coalesce(array_agg(k.content), '{}'), array_agg(k.id), array_agg(k.times) into v_known, v_known_ids, v_known_times
  from known_findings(p_workspace, p_items, v_contents, v_times) k;
  if exists (select from unnest(v_contents) c where c is null or c <> all(v_known)) then
    return query select * from save_changed_findings(p_workspace, p_items, p_run_id, p_source, p_import, p_part, v_known);
  end if;
  if v_known = '{}' then
    return;
  end if;
  select array_agg(s.content), array_agg(s.id), array_agg(s.merged) into v_seen, v_ids, v_merged
  from see_findings(v_known, v_known_ids, v_known_times, p_run_id, p_import, p_part) s;
  return query select s.id, false, false, false, coalesce(s.merged, false) from unnest(v_ids, v_merged) as s(id, merged);
  -- Changed by another transaction in between.
  return query
    select c.* from (select jsonb_agg(i) as items from jsonb_array_elements(p_items) i
                     where decode(i ->> 'content', 'hex') = any(v_known)
                       and decode(i ->> 'content', 'hex') <> all(coalesce(v_seen, '{}'))) missed
    cross join lateral save_changed_findings(p_workspace, missed.items, p_run_id, p_source, p_import, p_part, '{}') c
    where missed.items is not null;
end $$;
