import { sql, type Kysely } from 'kysely'

/**
 * Vulnerabilities and assets: the records, and the functions that save them. A record that names what and where has an
 * identity; whoever sees it again updates the record that holds the identity. Locks are taken in the order of
 * identities, so that imports at the same time wait for each other and never deadlock.
 */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  await sql.raw(TABLES).execute(db)
  await sql.raw(SUBSTRINGS).execute(db)
  await sql.raw(SCANS).execute(db)
  await sql.raw(EVENTS).execute(db)
  await sql.raw(SAVE_VULNERABILITIES).execute(db)
  await sql.raw(SAVE_ASSETS).execute(db)
}

const SEEN = `
  source text not null,
  state text collate "C" not null default 'open' check (state in ('open', 'gone')),
  first_seen timestamptz not null default now(),
  last_seen timestamptz not null default now(),
  -- When it was found, or found again after it was gone.
  opened_at timestamptz not null default now(),
  gone_at timestamptz,
  times_seen int not null default 1,
  first_run bigint,
  last_run bigint,
  created_at timestamptz not null default now(),
  -- Changes with content and state, not with being seen.
  updated_at timestamptz not null default now()
`

const TABLES = `
create table vulnerabilities (
  id bigint generated always as identity primary key,
  workspace text collate "C" not null,
  vuln_info text not null,
  vuln_title text not null,
  vuln_desc text not null,
  vuln_poc text not null,
  severity text collate "C" not null check (severity in ('critical', 'high', 'medium', 'low', 'info')),
  confidence text collate "C" not null
    check (confidence in ('Certain', 'Firm', 'Tentative', 'Manual Review Required')),
  asset_type text not null,
  asset_value text not null,
  tags text[] not null,
  detail_http_request text not null,
  detail_http_response text not null,
  raw_vuln_json text not null,
  finding_hash bytea,
  -- Records made by hand may share an identity; one of them holds it, and imports update that one.
  holds boolean not null,
  ${SEEN},
  constraint vulnerabilities_gone_at check ((state = 'gone') = (gone_at is not null)),
  constraint vulnerabilities_holds check (not holds or finding_hash is not null)
) with (fillfactor = 90, toast_tuple_target = 512);
create unique index vulnerabilities_identity on vulnerabilities (finding_hash) where holds;
create index vulnerabilities_twins on vulnerabilities (finding_hash) where not holds and finding_hash is not null;
create index vulnerabilities_workspace on vulnerabilities (workspace, severity, confidence, state, id);
create index vulnerabilities_severity on vulnerabilities (severity, confidence, state, id);

create table assets (
  id bigint generated always as identity primary key,
  workspace text collate "C" not null,
  asset_type text collate "C" not null,
  asset_value text not null,
  url text not null,
  host_ip text not null,
  scheme text not null,
  status_code int not null,
  title text not null,
  content_type text not null,
  technologies text[] not null,
  open_ports text[] not null,
  dns_records text[] not null,
  remarks text[] not null,
  raw_json_data text not null,
  asset_hash bytea not null,
  ${SEEN},
  constraint assets_gone_at check ((state = 'gone') = (gone_at is not null))
) with (fillfactor = 90, toast_tuple_target = 512);
create unique index assets_identity on assets (asset_hash);
create index assets_workspace on assets (workspace, asset_type, status_code, state, id);
create index assets_type on assets (asset_type, status_code, state, id);
`

// The extension gets a schema of its own, so that its functions do not stand among ours. Without it (an
// administrator can add it later, docs/findings.md) partial matches read the table.
const SUBSTRINGS = `
create function index_substrings() returns boolean
language plpgsql as $$
declare
  v_schema text;
begin
  begin
    if not exists (select from pg_extension where extname = 'pg_trgm') then
      create schema if not exists trigrams;
      create extension pg_trgm schema trigrams;
    end if;
  exception
    when insufficient_privilege or undefined_file or feature_not_supported then
      raise notice 'pg_trgm is not there: partial matches on asset_value will be slow';
      return false;
  end;
  select n.nspname into v_schema
  from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'pg_trgm';
  execute format(
    'create index if not exists vulnerabilities_asset on vulnerabilities using gin (asset_value %I.gin_trgm_ops)',
    v_schema);
  execute format(
    'create index if not exists assets_text on assets using gin ((asset_value || '' '' || url || '' '' || title) %I.gin_trgm_ops)',
    v_schema);
  return true;
end $$;
select index_substrings();
`

const SCANS = `
-- What makes two scans comparable: the same step of the same workflow with the same params on the same target.
create table scopes (
  id bigint generated always as identity primary key,
  workspace text collate "C" not null,
  workflow_name text collate "C" not null,
  target text collate "C" not null,
  step text collate "C" not null,
  scope_hash bytea not null unique
);

-- One row for each step of an attempt that brought records in, also when it brought none.
create table scans (
  run_id bigint not null,
  attempt int not null,
  scope_id bigint not null references scopes,
  kind text collate "C" not null check (kind in ('vulnerability', 'asset')),
  errors int not null,
  judged_at timestamptz,
  primary key (run_id, attempt, scope_id, kind)
);
create index scans_open on scans (run_id) where judged_at is null;
create index scans_scope on scans (scope_id, run_id);

-- The last scan of each scope that saw a record.
create table sightings (
  kind text collate "C" not null,
  record_id bigint not null,
  scope_id bigint not null,
  run_id bigint not null,
  attempt int not null,
  primary key (kind, record_id, scope_id)
);
create index sightings_scope on sightings (scope_id, kind, run_id);

-- What each attempt saw, as it was then: the matter of comparing runs. Kept for the latest runs of a scope.
create table observations (
  run_id bigint not null,
  attempt int not null,
  kind text collate "C" not null,
  record_id bigint not null,
  seen jsonb not null,
  primary key (run_id, attempt, kind, record_id)
);

-- What was saved: its id, whether it is new, whether its content or state changed, whether it came back.
create type saved_record as (id bigint, created boolean, changed boolean, reopened boolean);

create function text_hash(variadic p_parts text[]) returns bytea
language sql stable as $$ select sha256(convert_to(to_jsonb(p_parts)::text, 'UTF8')) $$;

-- Null where what or where is missing: such a record is like no other.
create function finding_hash(p_workspace text, p_info text, p_title text, p_value text, p_type text) returns bytea
language sql stable as $$
  select case when p_value <> '' and coalesce(nullif(p_info, ''), p_title) <> ''
              then text_hash(p_workspace, coalesce(nullif(p_info, ''), p_title), p_value, p_type) end
$$;

-- Notes what a scan saw.
create function note_sightings(p_run runs, p_scope_id bigint, p_kind text, p_ids bigint[], p_seen jsonb[]) returns void
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
`

const EVENTS = `
-- Writes one event for each text; of a run where there is one.
create function log_record_events(p_topic text, p_data_type text, p_workspace text, p_run runs, p_data text[])
returns void
language sql as $$
  insert into event_logs (topic, event_id, name, source, data_type, data, workspace, run_id, workflow_name,
                          processed, processed_at)
  select p_topic, 'evt_' || replace(gen_random_uuid()::text, '-', ''), p_topic,
         case when (p_run).id is null then 'api' else 'executor' end, p_data_type, d.data, p_workspace,
         coalesce((p_run).run_uuid::text, ''), coalesce((p_run).workflow_name, ''),
         not w.wanted, case when w.wanted then null else now() end
  from unnest(p_data) with ordinality as d(data, n)
  cross join (select event_is_wanted(p_topic) as wanted) w
  order by d.n
$$;

create function finding_event_data(v vulnerabilities, p_run runs, p_reopened boolean) returns text
language sql stable as $$
  select json_build_object(
    'id', v.id, 'workspace', v.workspace, 'vuln_info', v.vuln_info, 'vuln_title', v.vuln_title,
    'severity', v.severity, 'confidence', v.confidence, 'asset_type', v.asset_type, 'asset_value', v.asset_value,
    'tags', v.tags, 'source', v.source, 'reopened', p_reopened,
    'run_uuid', coalesce((p_run).run_uuid::text, ''), 'workflow', coalesce((p_run).workflow_name, ''),
    'target', coalesce((p_run).target, ''))::text
$$;

create function asset_event_data(a assets, p_run runs, p_reopened boolean) returns text
language sql stable as $$
  select json_build_object(
    'id', a.id, 'workspace', a.workspace, 'asset_type', a.asset_type, 'asset_value', a.asset_value, 'url', a.url,
    'host_ip', a.host_ip, 'scheme', a.scheme, 'status_code', a.status_code, 'title', a.title,
    'technologies', a.technologies, 'open_ports', a.open_ports, 'source', a.source, 'reopened', p_reopened,
    'run_uuid', coalesce((p_run).run_uuid::text, ''), 'workflow', coalesce((p_run).workflow_name, ''),
    'target', coalesce((p_run).target, ''))::text
$$;
`

const VULNERABILITY_FIELDS = `vuln_info text, vuln_title text, vuln_desc text, vuln_poc text, severity text,
    confidence text, asset_type text, asset_value text, tags jsonb, detail_http_request text,
    detail_http_response text, raw_vuln_json text`
const VULNERABILITY_VALUES = `i.vuln_info, i.vuln_title, i.vuln_desc, i.vuln_poc, i.severity, i.confidence, i.asset_type,
      i.asset_value, texts_of(i.tags), i.detail_http_request, i.detail_http_response, i.raw_vuln_json`
const VULNERABILITY_COLUMNS = `workspace, vuln_info, vuln_title, vuln_desc, vuln_poc, severity, confidence, asset_type,
      asset_value, tags, detail_http_request, detail_http_response, raw_vuln_json`

/** A sighting without a text does not wipe the text that is known. */
const kept = (table: string, ...columns: string[]): string =>
  columns.map((column) => `coalesce(nullif(excluded.${column}, ''), ${table}.${column})`).join(', ')
const keptList = (table: string, ...columns: string[]): string =>
  columns
    .map((c) => `case when cardinality(excluded.${c}) = 0 then ${table}.${c} else excluded.${c} end`)
    .join(', ')

const FOUND_TEXTS = [
  'vuln_info',
  'vuln_title',
  'vuln_desc',
  'vuln_poc',
  'detail_http_request',
  'detail_http_response',
]

/** Being seen: counted once for each run, and once for each import without one. */
const seen = (table: string): string => `
      state = 'open', gone_at = null,
      opened_at = case ${table}.state when 'gone' then now() else ${table}.opened_at end,
      last_seen = greatest(${table}.last_seen, now()),
      times_seen = ${table}.times_seen + case when ${table}.last_run = excluded.last_run then 0 else 1 end,
      last_run = greatest(${table}.last_run, excluded.last_run),
      first_run = ${table}.first_run`

const SAVE_VULNERABILITIES = `
create function texts_of(p_list jsonb) returns text[]
language sql immutable as $$ select array(select jsonb_array_elements_text(coalesce(p_list, '[]'))) $$;

-- Saves records under their identity. Of two with the same identity in p_items the last one counts.
create function save_vulnerabilities(p_workspace text, p_items jsonb, p_run_id bigint, p_source text)
returns setof saved_record
language sql as $$
  with items as materialized (
    select i.*, finding_hash(p_workspace, i.vuln_info, i.vuln_title, i.asset_value, i.asset_type) as hash
    from rows from (jsonb_to_recordset(p_items) as (${VULNERABILITY_FIELDS})) with ordinality as i(vuln_info, vuln_title,
      vuln_desc, vuln_poc, severity, confidence, asset_type, asset_value, tags, detail_http_request,
      detail_http_response, raw_vuln_json, n)
  ), known as (
    insert into vulnerabilities as v (${VULNERABILITY_COLUMNS}, finding_hash, holds, source, first_run, last_run)
    select p_workspace, ${VULNERABILITY_VALUES}, i.hash, true, p_source, p_run_id, p_run_id
    from (select distinct on (hash) * from items where hash is not null order by hash, n desc) i
    order by i.hash
    on conflict (finding_hash) where holds do update
    set (vuln_info, vuln_title, vuln_desc, vuln_poc, detail_http_request, detail_http_response) =
          (${kept('v', ...FOUND_TEXTS)}),
      severity = excluded.severity, confidence = excluded.confidence,
      tags = ${keptList('v', 'tags')},
      raw_vuln_json = ${kept('v', 'raw_vuln_json')},
      source = excluded.source,
      updated_at = case
        when v.state = 'gone' or (v.severity, v.confidence) is distinct from (excluded.severity, excluded.confidence)
          or (v.vuln_info, v.vuln_title, v.vuln_desc, v.vuln_poc)
            is distinct from (${kept('v', ...FOUND_TEXTS.slice(0, 4))})
          or v.tags is distinct from ${keptList('v', 'tags')}
        then now() else v.updated_at end,
      ${seen('v')}
    returning v.id, v.xmax = 0 as created, v.updated_at = now() as changed, v.opened_at = now() as opened
  ), loose as (
    insert into vulnerabilities as v (${VULNERABILITY_COLUMNS}, finding_hash, holds, source, first_run, last_run)
    select p_workspace, ${VULNERABILITY_VALUES}, null, false, p_source, p_run_id, p_run_id
    from items i where i.hash is null
    order by i.n
    returning v.id
  )
  select k.id, k.created, not k.created and k.changed, not k.created and k.opened from known k
  union all
  select l.id, true, false, false from loose l
$$;

create function finding_seen(v vulnerabilities) returns jsonb
language sql immutable as $$
  select jsonb_build_object('vuln_info', v.vuln_info, 'vuln_title', v.vuln_title, 'severity', v.severity,
    'confidence', v.confidence, 'asset_type', v.asset_type, 'asset_value', v.asset_value, 'tags', to_jsonb(v.tags))
$$;

create function counts_of(p_saved saved_record[]) returns jsonb
language sql stable as $$
  select jsonb_build_object('new', count(*) filter (where created), 'updated', count(*) filter (where changed),
    'unchanged', count(*) filter (where not created and not changed), 'errors', 0)
  from unnest(p_saved)
$$;

-- One transaction: records, events, and what the run saw. p_run is null for an import without a run.
create function import_vulnerabilities(p_workspace text, p_items jsonb, p_source text, p_run runs, p_scope_id bigint)
returns jsonb
language plpgsql as $$
declare
  v_saved saved_record[];
begin
  select array_agg(s) into v_saved from save_vulnerabilities(p_workspace, p_items, (p_run).id, p_source) s;
  perform log_record_events('vuln.found', 'vulnerability', p_workspace, p_run,
    array(select finding_event_data(v, p_run, s.reopened) from unnest(v_saved) s join vulnerabilities v on v.id = s.id
          where s.created or s.reopened order by v.id));
  if (p_run).id is not null then
    perform note_sightings(p_run, p_scope_id, 'vulnerability', array_agg(v.id), array_agg(finding_seen(v)))
    from unnest(v_saved) s join vulnerabilities v on v.id = s.id;
  end if;
  return counts_of(v_saved);
end $$;

-- By hand: always a new record. It holds its identity when no other does.
create function create_vulnerability(p_workspace text, p_item jsonb) returns bigint
language plpgsql as $$
declare
  v_id bigint;
begin
  insert into vulnerabilities as v (${VULNERABILITY_COLUMNS}, finding_hash, holds, source)
  select p_workspace, ${VULNERABILITY_VALUES}, h.hash, h.hash is not null, 'api'
  from jsonb_to_record(p_item) as i(${VULNERABILITY_FIELDS})
  cross join lateral (
    select finding_hash(p_workspace, i.vuln_info, i.vuln_title, i.asset_value, i.asset_type) as hash) h
  on conflict (finding_hash) where holds do nothing
  returning v.id into v_id;
  if v_id is null then
    insert into vulnerabilities as v (${VULNERABILITY_COLUMNS}, finding_hash, holds, source)
    select p_workspace, ${VULNERABILITY_VALUES},
           finding_hash(p_workspace, i.vuln_info, i.vuln_title, i.asset_value, i.asset_type), false, 'api'
    from jsonb_to_record(p_item) as i(${VULNERABILITY_FIELDS})
    returning v.id into v_id;
  end if;
  perform log_record_events('vuln.found', 'vulnerability', p_workspace, null,
    array(select finding_event_data(v, null, false) from vulnerabilities v where v.id = v_id));
  return v_id;
end $$;

-- The identity goes over to the oldest twin, so that the next import finds it. False: there is no such record.
create function delete_vulnerability(p_id bigint) returns boolean
language plpgsql as $$
declare
  v_hash bytea;
  v_held boolean;
begin
  delete from vulnerabilities where id = p_id returning finding_hash, holds into v_hash, v_held;
  if not found then
    return false;
  end if;
  delete from sightings where kind = 'vulnerability' and record_id = p_id;
  if v_held then
    update vulnerabilities set holds = true
    where id = (select min(id) from vulnerabilities where finding_hash = v_hash and not holds);
  end if;
  return true;
end $$;
`

const ASSET_FIELDS = `asset_type text, asset_value text, url text, host_ip text, scheme text, status_code int, title text,
    content_type text, technologies jsonb, open_ports jsonb, dns_records jsonb, remarks jsonb, raw_json_data text`
const ASSET_TEXTS = ['asset_type', 'host_ip', 'scheme', 'title', 'content_type']
const ASSET_LISTS = ['technologies', 'open_ports', 'dns_records', 'remarks']

const SAVE_ASSETS = `
create function save_assets(p_workspace text, p_items jsonb, p_run_id bigint, p_source text)
returns setof saved_record
language sql as $$
  with items as materialized (
    select i.*, text_hash(p_workspace, i.asset_value, i.url) as hash
    from rows from (jsonb_to_recordset(p_items) as (${ASSET_FIELDS})) with ordinality as i(asset_type, asset_value, url,
      host_ip, scheme, status_code, title, content_type, technologies, open_ports, dns_records, remarks, raw_json_data, n)
  ), known as (
    insert into assets as a (workspace, asset_type, asset_value, url, host_ip, scheme, status_code, title, content_type,
      technologies, open_ports, dns_records, remarks, raw_json_data, asset_hash, source, first_run, last_run)
    select p_workspace, i.asset_type, i.asset_value, i.url, i.host_ip, i.scheme, i.status_code, i.title, i.content_type,
      texts_of(i.technologies), texts_of(i.open_ports), texts_of(i.dns_records), texts_of(i.remarks), i.raw_json_data,
      i.hash, p_source, p_run_id, p_run_id
    from (select distinct on (hash) * from items order by hash, n desc) i
    order by i.hash
    on conflict (asset_hash) do update
    set (${ASSET_TEXTS.join(', ')}) = (${kept('a', ...ASSET_TEXTS)}),
      (${ASSET_LISTS.join(', ')}) = (${keptList('a', ...ASSET_LISTS)}),
      status_code = coalesce(nullif(excluded.status_code, 0), a.status_code),
      raw_json_data = ${kept('a', 'raw_json_data')},
      source = excluded.source,
      updated_at = case
        when a.state = 'gone'
          or (${ASSET_TEXTS.map((c) => `a.${c}`).join(', ')}) is distinct from (${kept('a', ...ASSET_TEXTS)})
          or (${ASSET_LISTS.map((c) => `a.${c}`).join(', ')}) is distinct from (${keptList('a', ...ASSET_LISTS)})
          or a.status_code <> coalesce(nullif(excluded.status_code, 0), a.status_code)
        then now() else a.updated_at end,
      ${seen('a')}
    returning a.id, a.xmax = 0 as created, a.updated_at = now() as changed, a.opened_at = now() as opened
  )
  select k.id, k.created, not k.created and k.changed, not k.created and k.opened from known k
$$;

create function asset_seen(a assets) returns jsonb
language sql immutable as $$
  select jsonb_build_object('asset_type', a.asset_type, 'asset_value', a.asset_value, 'url', a.url, 'host_ip', a.host_ip,
    'status_code', a.status_code, 'title', a.title, 'technologies', to_jsonb(a.technologies),
    'open_ports', to_jsonb(a.open_ports), 'dns_records', to_jsonb(a.dns_records))
$$;

create function import_assets(p_workspace text, p_items jsonb, p_source text, p_run runs, p_scope_id bigint)
returns jsonb
language plpgsql as $$
declare
  v_saved saved_record[];
begin
  select array_agg(s) into v_saved from save_assets(p_workspace, p_items, (p_run).id, p_source) s;
  perform log_record_events('asset.discovered', 'asset', p_workspace, p_run,
    array(select asset_event_data(a, p_run, s.reopened) from unnest(v_saved) s join assets a on a.id = s.id
          where s.created or s.reopened order by a.id));
  perform log_record_events('asset.updated', 'asset', p_workspace, p_run,
    array(select asset_event_data(a, p_run, false) from unnest(v_saved) s join assets a on a.id = s.id
          where s.changed and not s.reopened order by a.id));
  if (p_run).id is not null then
    perform note_sightings(p_run, p_scope_id, 'asset', array_agg(a.id), array_agg(asset_seen(a)))
    from unnest(v_saved) s join assets a on a.id = s.id;
  end if;
  return counts_of(v_saved);
end $$;
`
