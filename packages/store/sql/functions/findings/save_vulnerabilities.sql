-- Saves findings under their identity. Of two items with the same identity the last one counts. A sighting without a
-- text does not erase a known text. A record counts as seen once for each run, and once for each import without a
-- run. Locks are taken in the order of identities, so that concurrent imports do not deadlock.
create or replace function save_vulnerabilities(p_workspace text, p_items jsonb, p_run_id bigint, p_source text)
returns setof saved_record
language sql as $$
  with items as materialized (
    select i.*, finding_hash(p_workspace, i.vuln_info, i.vuln_title, i.asset_value, i.asset_type) as hash
    from rows from (jsonb_to_recordset(p_items) as (
        vuln_info text, vuln_title text, vuln_desc text, vuln_poc text, severity text, confidence text, asset_type text,
        asset_value text, tags jsonb, detail_http_request text, detail_http_response text, raw_vuln_json text))
      with ordinality as i(vuln_info, vuln_title, vuln_desc, vuln_poc, severity, confidence, asset_type,
        asset_value, tags, detail_http_request, detail_http_response, raw_vuln_json, n)
  ), known as (
    insert into vulnerabilities as v (workspace, vuln_info, vuln_title, vuln_desc, vuln_poc, severity, confidence,
      asset_type, asset_value, tags, detail_http_request, detail_http_response, raw_vuln_json,
      finding_hash, holds, source, first_run, last_run)
    select p_workspace, i.vuln_info, i.vuln_title, i.vuln_desc, i.vuln_poc, i.severity, i.confidence,
      i.asset_type, i.asset_value, text_array(i.tags), i.detail_http_request, i.detail_http_response, i.raw_vuln_json,
      i.hash, true, p_source, p_run_id, p_run_id
    from (select distinct on (hash) * from items where hash is not null order by hash, n desc) i
    order by i.hash
    on conflict (finding_hash) where holds do update
    set (vuln_info, vuln_title, vuln_desc, vuln_poc, detail_http_request, detail_http_response) = (
        coalesce(nullif(excluded.vuln_info, ''), v.vuln_info),
        coalesce(nullif(excluded.vuln_title, ''), v.vuln_title),
        coalesce(nullif(excluded.vuln_desc, ''), v.vuln_desc),
        coalesce(nullif(excluded.vuln_poc, ''), v.vuln_poc),
        coalesce(nullif(excluded.detail_http_request, ''), v.detail_http_request),
        coalesce(nullif(excluded.detail_http_response, ''), v.detail_http_response)),
      severity = excluded.severity, confidence = excluded.confidence,
      tags = case when cardinality(excluded.tags) = 0 then v.tags else excluded.tags end,
      raw_vuln_json = coalesce(nullif(excluded.raw_vuln_json, ''), v.raw_vuln_json),
      source = excluded.source,
      updated_at = case
        when v.state = 'gone'
          or (v.severity, v.confidence) is distinct from (excluded.severity, excluded.confidence)
          or (v.vuln_info, v.vuln_title, v.vuln_desc, v.vuln_poc) is distinct from (
            coalesce(nullif(excluded.vuln_info, ''), v.vuln_info),
            coalesce(nullif(excluded.vuln_title, ''), v.vuln_title),
            coalesce(nullif(excluded.vuln_desc, ''), v.vuln_desc),
            coalesce(nullif(excluded.vuln_poc, ''), v.vuln_poc))
          or v.tags is distinct from case when cardinality(excluded.tags) = 0 then v.tags else excluded.tags end
        then now() else v.updated_at end,
      state = 'open', gone_at = null,
      opened_at = case v.state when 'gone' then now() else v.opened_at end,
      last_seen = greatest(v.last_seen, now()),
      times_seen = v.times_seen + case when v.last_run = excluded.last_run then 0 else 1 end,
      last_run = greatest(v.last_run, excluded.last_run),
      first_run = v.first_run
    returning v.id, v.xmax = 0 as created, v.updated_at = now() as changed, v.opened_at = now() as opened
  ), loose as (
    insert into vulnerabilities as v (workspace, vuln_info, vuln_title, vuln_desc, vuln_poc, severity, confidence,
      asset_type, asset_value, tags, detail_http_request, detail_http_response, raw_vuln_json,
      finding_hash, holds, source, first_run, last_run)
    select p_workspace, i.vuln_info, i.vuln_title, i.vuln_desc, i.vuln_poc, i.severity, i.confidence,
      i.asset_type, i.asset_value, text_array(i.tags), i.detail_http_request, i.detail_http_response, i.raw_vuln_json,
      null, false, p_source, p_run_id, p_run_id
    from items i where i.hash is null
    order by i.n
    returning v.id
  )
  select k.id, k.created, not k.created and k.changed, not k.created and k.opened from known k
  union all
  select l.id, true, false, false from loose l
$$;
