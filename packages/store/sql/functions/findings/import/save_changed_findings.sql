-- Saves findings under their identity, but for items whose content is one of p_known. Results with one identity within an
-- import, also of different parts of it, become one record with the worst severity and their number. Otherwise an item
-- replaces what the scanner reported, and nothing that a person decided; a sighting without a text does not erase a known text. Locks are taken in the order of identities,
-- so that concurrent imports do not deadlock.
create or replace function save_changed_findings(p_workspace text, p_items jsonb, p_run_id bigint, p_source text,
  p_import uuid, p_part int, p_known bytea[])
returns setof saved_record
language sql
-- planner: batch
as $$
  with items as materialized (
    select i.*, decode(i.content, 'hex') as content_hash,
      finding_hash(p_workspace, i.vuln_info, i.vuln_title, i.asset_value, i.asset_type, i.fingerprint) as hash
    from rows from (jsonb_to_recordset(p_items) as (
        vuln_info text, vuln_title text, vuln_desc text, vuln_poc text, severity text, confidence text, asset_type text,
        asset_value text, tags text[], detail_http_request text, detail_http_response text, raw_vuln_json text,
        fingerprint text, occurrences int, content text))
      with ordinality as i(vuln_info, vuln_title, vuln_desc, vuln_poc, severity, confidence, asset_type,
        asset_value, tags, detail_http_request, detail_http_response, raw_vuln_json, fingerprint, occurrences, content, n)
    where i.content is null or decode(i.content, 'hex') not in (select unnest(p_known))
  ), distinct_items as materialized (
    select distinct on (hash) *, sum(coalesce(occurrences, 1)) over (partition by hash)::int as times
    from items where hash is not null order by hash, severity_rank(severity), n desc
  ), rules as materialized (
    -- Without rules, what the scanner reported decides: the trigger that derives fields has nothing to do.
    select case when exists (select from finding_rules) then null else 'open' end as seen
  ), known as (
    insert into vulnerabilities as v (workspace, vuln_info, vuln_title, vuln_desc, vuln_poc, severity, confidence,
      asset_type, asset_value, tags, detail_http_request, detail_http_response, raw_vuln_json, fingerprint,
      finding_hash, holds, source, first_run, seen, scan_severity, scan_tags)
    select p_workspace, i.vuln_info, i.vuln_title, i.vuln_desc, i.vuln_poc, i.severity, i.confidence,
      i.asset_type, i.asset_value, coalesce(i.tags, '{}'), i.detail_http_request, i.detail_http_response, i.raw_vuln_json,
      coalesce(i.fingerprint, ''), i.hash, true, p_source, p_run_id, r.seen, i.severity, coalesce(i.tags, '{}')
    from distinct_items i cross join rules r
    order by i.hash
    on conflict (finding_hash) where holds do update
    set (vuln_info, vuln_title, vuln_desc, vuln_poc, detail_http_request, detail_http_response, raw_vuln_json) = (
        select known_text(v.vuln_info, excluded.vuln_info, r), known_text(v.vuln_title, excluded.vuln_title, r),
          known_text(v.vuln_desc, excluded.vuln_desc, r), known_text(v.vuln_poc, excluded.vuln_poc, r),
          known_text(v.detail_http_request, excluded.detail_http_request, r),
          known_text(v.detail_http_response, excluded.detail_http_response, r),
          known_text(v.raw_vuln_json, excluded.raw_vuln_json, r)
        from is_repeat(v.id, p_import, v.scan_severity, excluded.scan_severity) r),
      (scan_severity, confidence, asset_value, scan_tags) = (
        select case when r then v.scan_severity else excluded.scan_severity end,
          case when r then v.confidence else excluded.confidence end,
          -- The line of a finding in a file may have another number.
          case when r or v.asset_type <> 'file' then v.asset_value else excluded.asset_value end,
          case when r or cardinality(excluded.scan_tags) = 0 then v.scan_tags else excluded.scan_tags end
        from is_repeat(v.id, p_import, v.scan_severity, excluded.scan_severity) r),
      source = excluded.source, seen = 'open', seen_reason = '',
      back_at = case v.verdict when 'fixed_claimed' then coalesce(v.back_at, now()) end
    returning v.id, v.finding_hash as hash, v.xmax = 0 as created, v.updated_at = now() as changed,
      v.opened_at = now() as opened
  ), seen as (
    insert into finding_sightings as t (finding_id, content_hash, last_seen, times_seen, last_run, occurrences,
      last_import, import_part)
    select k.id, i.content_hash, now(), 1, p_run_id, i.times, p_import, p_part
    from known k join distinct_items i on i.hash = k.hash order by k.id
    on conflict (finding_id) do update
    -- Which of several contents the record has is not known.
    set content_hash = case when t.last_import = p_import then null else excluded.content_hash end,
      last_seen = greatest(t.last_seen, now()),
      times_seen = t.times_seen + case when t.last_run = p_run_id or t.last_import = p_import then 0 else 1 end,
      last_run = greatest(t.last_run, p_run_id),
      occurrences = case when t.last_import = p_import and t.import_part <> p_part
        then t.occurrences + excluded.occurrences else excluded.occurrences end,
      last_import = p_import,
      import_part = case when t.last_import = p_import then t.import_part else p_part end
    returning t.finding_id as id, t.import_part <> p_part as merged
  ), loose as materialized (
    select nextval(pg_get_serial_sequence('vulnerabilities', 'id')) as id, i.* from items i where i.hash is null order by i.n
  ), loose_saved as (
    insert into vulnerabilities (id, workspace, vuln_info, vuln_title, vuln_desc, vuln_poc, severity, confidence,
      asset_type, asset_value, tags, detail_http_request, detail_http_response, raw_vuln_json, fingerprint,
      finding_hash, holds, source, first_run, seen, scan_severity, scan_tags)
    overriding system value
    select i.id, p_workspace, i.vuln_info, i.vuln_title, i.vuln_desc, i.vuln_poc, i.severity, i.confidence,
      i.asset_type, i.asset_value, coalesce(i.tags, '{}'), i.detail_http_request, i.detail_http_response, i.raw_vuln_json,
      coalesce(i.fingerprint, ''), null, false, p_source, p_run_id, r.seen, i.severity, coalesce(i.tags, '{}')
    from loose i cross join rules r
  ), loose_seen as (
    insert into finding_sightings (finding_id, last_seen, times_seen, last_run, occurrences, last_import, import_part)
    select l.id, now(), 1, p_run_id, coalesce(l.occurrences, 1), p_import, p_part from loose l
  )
  select k.id, k.created, not k.created and k.changed, not k.created and k.opened, coalesce(s.merged, false)
  from known k join seen s on s.id = k.id
  union all
  select l.id, true, false, false, false from loose l
$$;
