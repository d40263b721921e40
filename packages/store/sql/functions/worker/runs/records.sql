-- Records of the workspace of a run that the caller owns, for workflow functions. Ends before the text exceeds 32
-- MiB.
create or replace function worker.records(p_secret text, p_run_id bigint, p_attempt int, p_kind text,
                                          p_workspace text, p_filter jsonb, p_limit int)
returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp
-- planner: read
as $$
declare
  v_records jsonb;
  v_first bigint;
begin
  if workspace_of_owned(p_secret, p_run_id, p_attempt, p_workspace) is null then
    return null;
  end if;
  v_first := case when p_filter ->> 'first_seen_run' ~ '^[0-9a-f-]{36}$'
                  then (select id from runs where run_uuid = (p_filter ->> 'first_seen_run')::uuid) end;
  if p_kind = 'asset' then
    select jsonb_agg(row order by id)
    into v_records
    from (select id, row, sum(length(row::text)) over (order by id) as chars
          from (select id, to_jsonb(a) - '{asset_hash,page_hash,raw_json_data,first_run,opened_at}'::text[]
                  || jsonb_build_object('last_seen', t.last_seen, 'times_seen', t.times_seen) as row
                from assets a join asset_sightings t on t.asset_id = a.id
                where workspace = p_workspace
                  and (p_filter ->> 'asset_type' is null or asset_type = p_filter ->> 'asset_type')
                  and (p_filter ->> 'status_code' is null or status_code::text = p_filter ->> 'status_code')
                  and (p_filter ->> 'first_seen_run' is null or first_run = v_first)
                order by id limit p_limit) found) bounded
    where chars <= 33554432;
  else
    select jsonb_agg(row order by id)
    into v_records
    from (select id, row, sum(length(row::text)) over (order by id) as chars
          from (select id,
                to_jsonb(v) - '{finding_hash,holds,detail_http_request,detail_http_response,raw_vuln_json,first_run,opened_at,decision,ruled,scan_tags}'::text[]
                  || jsonb_build_object('last_seen', t.last_seen, 'times_seen', t.times_seen, 'occurrences', t.occurrences)
                  as row
                from vulnerabilities v join finding_sightings t on t.finding_id = v.id
                where workspace = p_workspace
                  and (p_filter ->> 'severity' is null
                       or severity = any(string_to_array(lower(replace(p_filter ->> 'severity', ' ', '')), ',')))
                  and (p_filter ->> 'asset_value' is null or strpos(lower(asset_value),
                    lower(p_filter ->> 'asset_value')) > 0)
                  and (p_filter ->> 'first_seen_run' is null or first_run = v_first)
                order by id limit p_limit) found) bounded
    where chars <= 33554432;
  end if;
  return coalesce(v_records, '[]');
end $$;
