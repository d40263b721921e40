import { sql, type Kysely } from 'kysely'

/**
 * One place is one record: `http://h` and `http://h:80`, `https://h` and `h:443`; UDP ports are assets of their own. A
 * scan closes only records of hosts that it reached. The scope of a scan holds the params that say what is looked at.
 */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  for (const part of [PLACES, SAVE_ASSETS, JOIN_PLACES, REACH, CLOSE, IMPORT, JOIN_SCOPES, GRANTS])
    await sql.raw(part).execute(db)
}

const DEFINER = `security definer set search_path = pg_catalog, public, pg_temp`
const BY_INDEX = `set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off`

const PLACES = String.raw`
-- The place of a finding or asset, the same for all its spellings: a URL without the port that its scheme has anyway.
create function place_of(p_value text, p_type text) returns text
language sql immutable as $$
  select case
    when p_type = 'file' then p_value
    when p_value ~* '^http://[^/?#]+:80([/?#]|$)' then regexp_replace(p_value, '^(http://[^/?#]+):80(?=[/?#]|$)', '\1', 'i')
    when p_value ~* '^https://[^/?#]+:443([/?#]|$)' then regexp_replace(p_value, '^(https://[^/?#]+):443(?=[/?#]|$)', '\1', 'i')
    when p_value ~ '^([^\s/:@]+|\[[0-9A-Fa-f:.]+\]):80$' then 'http://' || left(p_value, -3)
    when p_value ~ '^([^\s/:@]+|\[[0-9A-Fa-f:.]+\]):443$' then 'https://' || left(p_value, -4)
    when p_type = 'web' and p_value ~ '^[^\s/:@]+$' then 'http://' || p_value
    else p_value end
$$;

-- The host of a place, in lower case: of a URL, host:port, host:port/udp, [address]:port or a bare host.
create function host_of(p_place text) returns text
language sql immutable as $$
  select lower(case
    when a like '[%' then substring(a from '^\[([^\]]*)')
    when a ~ '^[^:]*:[^:]*$' then split_part(a, ':', 1)
    else a end)
  from (select regexp_replace(substring(regexp_replace(p_place, '^[A-Za-z][A-Za-z0-9+.-]*://', '') from '^[^/?#]*'),
                              '^.*@', '') as a) authority
$$;

create or replace function finding_hash(p_workspace text, p_info text, p_title text, p_value text, p_type text)
returns bytea
language sql stable as $$
  select case when p_value <> '' and coalesce(nullif(p_info, ''), p_title) <> ''
              then text_hash(p_workspace, coalesce(nullif(p_info, ''), p_title), place_of(p_value, p_type), p_type) end
$$;

-- A web server is the same with and without the port of its scheme; the port itself (without a URL) is an asset too.
create function asset_hash(p_workspace text, p_value text, p_url text) returns bytea
language sql stable as $$
  select text_hash(p_workspace,
    case when u.url <> '' and u.url !~* '^[a-z]+://[^/?#]*:[0-9]+([/?#]|$)'
         then regexp_replace(case when p_value ~* '^https?://' then place_of(p_value, '') else p_value end,
                             '^([^\s/:@]+|\[[0-9A-Fa-f:.]+\]):(80|443)$', '\1')
         when p_value ~* '^https?://' then place_of(p_value, '')
         else p_value end,
    u.url)
  from (select case when p_url = '' then '' else place_of(p_url, '') end as url) u
$$;
`

/** A sighting without a text does not wipe the text that is known. */
const kept = (table: string, ...columns: string[]): string =>
  columns.map((column) => `coalesce(nullif(excluded.${column}, ''), ${table}.${column})`).join(', ')
const keptList = (table: string, ...columns: string[]): string =>
  columns
    .map((c) => `case when cardinality(excluded.${c}) = 0 then ${table}.${c} else excluded.${c} end`)
    .join(', ')

/** Being seen: counted once for each run, and once for each import without one. */
const seen = (table: string): string => `
      state = 'open', gone_at = null,
      opened_at = case ${table}.state when 'gone' then now() else ${table}.opened_at end,
      last_seen = greatest(${table}.last_seen, now()),
      times_seen = ${table}.times_seen + case when ${table}.last_run = excluded.last_run then 0 else 1 end,
      last_run = greatest(${table}.last_run, excluded.last_run),
      first_run = ${table}.first_run`

const ASSET_FIELDS = `asset_type text, asset_value text, url text, host_ip text, scheme text, status_code int, title text,
    content_type text, technologies jsonb, open_ports jsonb, dns_records jsonb, remarks jsonb, raw_json_data text`
const ASSET_TEXTS = ['asset_type', 'host_ip', 'scheme', 'title', 'content_type']
const ASSET_LISTS = ['technologies', 'open_ports', 'dns_records', 'remarks']

const SAVE_ASSETS = `
create or replace function save_assets(p_workspace text, p_items jsonb, p_run_id bigint, p_source text)
returns setof saved_record
language sql as $$
  with items as materialized (
    select i.*, asset_hash(p_workspace, i.asset_value, i.url) as hash
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
`

const JOIN_PLACES = String.raw`
update assets set asset_value = asset_value || '/udp', open_ports = array(select p || '/udp' from unnest(open_ports) p)
where asset_type = 'port' and raw_json_data ~ '"protocol":\s*"udp"' and asset_value ~ ':[0-9]+$';
update assets set asset_value = regexp_replace(asset_value, '^(.*):([0-9]+)(/udp)?$', '[\1]:\2\3')
where asset_type = 'port' and raw_json_data <> '' and asset_value ~ '^[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*:[0-9]+(/udp)?$';

-- Of several assets that are one place an open one stays, or else the oldest.
-- Only these can have another identity than before; the rest of a large table is not hashed.
create temp table joined_assets on commit drop as
with moved as materialized (
  select id, hash from (
    select id, asset_hash as old, asset_hash(workspace, asset_value, url) as hash from assets
    where asset_value ~ ':(80|443)([/?#]|$)' or url ~ ':(80|443)([/?#]|$)'
      or (asset_type = 'port' and (asset_value like '%/udp' or asset_value like '[%'))
    offset 0) a
  where old <> hash
), place as (
  select id, hash from moved
  union select id, asset_hash from assets a
  where asset_hash in (select hash from moved) and not exists (select from moved m where m.id = a.id)
)
select p.id, p.hash, first_value(p.id) over (partition by p.hash order by a.state = 'open' desc, p.id) as keeps
from place p join assets a on a.id = p.id;
-- The asset that stays gets the sightings of the others: else the next scan of another scope closes it.
insert into sightings as s (kind, record_id, scope_id, run_id, attempt)
select distinct on (j.keeps, o.scope_id) 'asset', j.keeps, o.scope_id, o.run_id, o.attempt
from sightings o join joined_assets j on j.id = o.record_id where o.kind = 'asset' and j.id <> j.keeps
order by j.keeps, o.scope_id, o.run_id desc, o.attempt desc
on conflict (kind, record_id, scope_id) do update set run_id = excluded.run_id, attempt = excluded.attempt
where (s.run_id, s.attempt) < (excluded.run_id, excluded.attempt);
delete from sightings where kind = 'asset' and record_id in (select id from joined_assets where id <> keeps);
insert into observations (run_id, attempt, kind, record_id, seen)
select distinct on (o.run_id, o.attempt, j.keeps) o.run_id, o.attempt, 'asset', j.keeps, o.seen
from joined_assets j join observations o on o.record_id = j.id where o.kind = 'asset' and j.id <> j.keeps
order by o.run_id, o.attempt, j.keeps, j.id
on conflict do nothing;
delete from observations where kind = 'asset' and record_id in (select id from joined_assets where id <> keeps);
update assets a set first_seen = least(a.first_seen, d.first_seen), first_run = least(a.first_run, d.first_run),
  last_seen = greatest(a.last_seen, d.last_seen), last_run = greatest(a.last_run, d.last_run)
from (select j.keeps, min(b.first_seen) as first_seen, min(b.first_run) as first_run, max(b.last_seen) as last_seen,
             max(b.last_run) as last_run
      from joined_assets j join assets b on b.id = j.id where j.id <> j.keeps group by j.keeps) d
where d.keeps = a.id;
delete from assets where id in (select id from joined_assets where id <> keeps);
update assets a set asset_hash = j.hash from joined_assets j where j.id = a.id and a.asset_hash <> j.hash;

-- Of several findings at one place, an open one gets the imports. The next scan marks the others as gone.
create temp table joined_findings on commit drop as
select id, finding_hash(workspace, vuln_info, vuln_title, asset_value, asset_type) as hash
from vulnerabilities where finding_hash is not null and place_of(asset_value, asset_type) <> asset_value;
create temp table holding_findings on commit drop as
select id, hash, first_value(id) over (partition by hash order by state = 'open' desc, holds desc, id) as holder
from (
  select v.id, v.state, v.holds, j.hash from joined_findings j join vulnerabilities v on v.id = j.id
  union select id, state, holds, finding_hash from vulnerabilities v
  where finding_hash in (select hash from joined_findings) and not exists (select from joined_findings j where j.id = v.id)
) f;
update vulnerabilities v set holds = false, finding_hash = h.hash from holding_findings h where h.id = v.id;
update vulnerabilities v set holds = true from holding_findings h where h.holder = v.id and h.id = v.id;
`

const REACH = `
-- Whether the imports of the scan have named the hosts that it reached; if not, it reached all of its scope.
alter table scans add column names_hosts boolean not null default false;

-- The hosts that a scan has named, until it is judged.
create table reached_hosts (
  run_id bigint not null,
  attempt int not null,
  scope_id bigint not null,
  kind text collate "C" not null,
  host text collate "C" not null,
  primary key (run_id, attempt, scope_id, kind, host)
);
`

const CLOSE = `
-- Records are locked before sightings, in the order of identities, as imports do. Of a scan that has named its hosts only
-- records of these, and of hosts on which it saw something, are closed.
create or replace function close_unseen(p_scan scans) returns void
language plpgsql as $$
declare
  v_ids bigint[];
  v_hosts text[];
begin
  if p_scan.kind = 'asset' then
    if p_scan.names_hosts then
      v_hosts := array(
        select host from reached_hosts where (run_id, attempt, scope_id, kind)
          = (p_scan.run_id, p_scan.attempt, p_scan.scope_id, p_scan.kind)
        union
        select host_of(coalesce(nullif(a.url, ''), a.asset_value)) from sightings s join assets a on a.id = s.record_id
        where s.scope_id = p_scan.scope_id and s.kind = 'asset' and (s.run_id, s.attempt) = (p_scan.run_id, p_scan.attempt));
    end if;
    select array_agg(s.record_id) into v_ids from sightings s left join assets a on a.id = s.record_id
    where s.scope_id = p_scan.scope_id and s.kind = 'asset' and (s.run_id, s.attempt) < (p_scan.run_id, p_scan.attempt)
      and (v_hosts is null or host_of(coalesce(nullif(a.url, ''), a.asset_value)) in (select unnest(v_hosts)));
  else
    if p_scan.names_hosts then
      v_hosts := array(
        select host from reached_hosts where (run_id, attempt, scope_id, kind)
          = (p_scan.run_id, p_scan.attempt, p_scan.scope_id, p_scan.kind)
        union
        select host_of(v.asset_value) from sightings s join vulnerabilities v on v.id = s.record_id
        where s.scope_id = p_scan.scope_id and s.kind = 'vulnerability'
          and (s.run_id, s.attempt) = (p_scan.run_id, p_scan.attempt));
    end if;
    select array_agg(s.record_id) into v_ids from sightings s left join vulnerabilities v on v.id = s.record_id
    where s.scope_id = p_scan.scope_id and s.kind = 'vulnerability'
      and (s.run_id, s.attempt) < (p_scan.run_id, p_scan.attempt)
      and (v_hosts is null or host_of(v.asset_value) in (select unnest(v_hosts)));
  end if;
  if v_ids is null then
    return;
  end if;
  if p_scan.kind = 'asset' then
    perform 1 from assets where id = any(v_ids) order by asset_hash for update;
  else
    perform 1 from vulnerabilities where id = any(v_ids) order by finding_hash, id for update;
  end if;
  with old as (
    delete from sightings
    where scope_id = p_scan.scope_id and kind = p_scan.kind and record_id = any(v_ids)
      and (run_id, attempt) < (p_scan.run_id, p_scan.attempt)
    returning record_id, run_id
  )
  select array_agg(record_id) into v_ids from old o
  where not exists (select from sightings s
                    where s.kind = p_scan.kind and s.record_id = o.record_id and s.scope_id <> p_scan.scope_id
                      and s.run_id > o.run_id);
  if p_scan.kind = 'asset' then
    update assets set state = 'gone', gone_at = now(), updated_at = now() where id = any(v_ids) and state = 'open';
  else
    update vulnerabilities set state = 'gone', gone_at = now(), updated_at = now()
    where id = any(v_ids) and state = 'open';
  end if;
end $$;

-- Judges the scans of up to p_limit ended runs. What a complete scan no longer saw where it looked, and no other scope has
-- seen since, is gone. Complete: the run is completed, none of its steps failed, and the import could use every record.
-- Only one master judges at a time. History of a scope beyond p_history runs goes. Returns how many runs were judged.
create or replace function judge_scans(p_limit int, p_history int) returns int
language plpgsql as $$
declare
  v_run runs;
  v_scan scans;
  v_judged int := 0;
begin
  if not pg_try_advisory_xact_lock(hashtext('scanfarm judge of scans')) then
    return 0;
  end if;
  for v_run in
    select r.* from runs r
    where r.id in (select run_id from scans where judged_at is null)
      and r.status in ('completed', 'failed', 'cancelled')
    order by r.id limit p_limit
  loop
    for v_scan in select * from scans where run_id = v_run.id and judged_at is null order by scope_id, kind loop
      if v_run.status = 'completed' and v_scan.attempt = v_run.attempt and v_scan.errors = 0 and not exists (
        select from steps where run_id = v_run.id and attempt = v_run.attempt and status in ('failed', 'cancelled'))
      then
        perform close_unseen(v_scan);
      end if;
      perform forget_old_scans(v_scan.scope_id, p_history);
    end loop;
    delete from reached_hosts where run_id = v_run.id;
    update scans set judged_at = now() where run_id = v_run.id and judged_at is null;
    v_judged := v_judged + 1;
  end loop;
  return v_judged;
end $$;
`

const IMPORT = `
drop function worker.import_records(bigint, int, text, text, text, text, jsonb, int);
drop function scope_of(runs, text, text);

-- The scope of a run's step in a workspace; made when it is met first. p_params: the params that say what is looked at;
-- null: all params of the job.
create function scope_of(p_run runs, p_workspace text, p_step text, p_params jsonb) returns bigint
language plpgsql as $$
declare
  v_hash bytea;
  v_id bigint;
begin
  select text_hash(p_workspace, p_run.workflow_name, j.workflow_kind, p_run.target, p_step,
                   coalesce(p_params, j.params)::text) into v_hash
  from jobs j where j.id = p_run.job_no;
  select id into v_id from scopes where scope_hash = v_hash;
  if v_id is null then
    insert into scopes (workspace, workflow_name, target, step, scope_hash)
    values (p_workspace, p_run.workflow_name, p_run.target, p_step, v_hash)
    on conflict (scope_hash) do update set scope_hash = excluded.scope_hash
    returning id into v_id;
  end if;
  return v_id;
end $$;

-- Brings in what a step of a run found; p_errors counts the records that it could not use, p_reached are the hosts that
-- it reached (null: all of its scope), p_params the params of its scope. Null: the caller does not own the run, and
-- nothing was written. The run's row is held until all is written, so that it cannot be given to another worker in
-- between.
create function worker.import_records(p_run_id bigint, p_attempt int, p_step text, p_kind text, p_workspace text,
                                      p_source text, p_items jsonb, p_errors int, p_reached text[] default null,
                                      p_params jsonb default null) returns jsonb
language plpgsql ${DEFINER} ${BY_INDEX} as $$
declare
  v_run runs;
  v_scope bigint;
  v_counts jsonb;
begin
  select * into v_run from runs where id = p_run_id and attempt = p_attempt and status = 'running' for share;
  if not found then
    return null;
  end if;
  v_scope := scope_of(v_run, p_workspace, p_step, p_params);
  insert into scans as s (run_id, attempt, scope_id, kind, errors, names_hosts)
  values (p_run_id, p_attempt, v_scope, p_kind, p_errors, p_reached is not null)
  on conflict (run_id, attempt, scope_id, kind) do update
  set errors = s.errors + excluded.errors, names_hosts = s.names_hosts or excluded.names_hosts
  where excluded.errors > 0 or (excluded.names_hosts and not s.names_hosts);
  insert into reached_hosts (run_id, attempt, scope_id, kind, host)
  select distinct p_run_id, p_attempt, v_scope, p_kind, host_of(h) from unnest(p_reached) h where host_of(h) <> ''
  on conflict do nothing;
  v_counts := case p_kind
    when 'asset' then import_assets(p_workspace, p_items, p_source, v_run, v_scope)
    else import_vulnerabilities(p_workspace, p_items, p_source, v_run, v_scope)
  end;
  return v_counts || jsonb_build_object('errors', p_errors);
end $$;
`

const JOIN_SCOPES = `
-- Scopes that differ only in how fast they were scanned become one, by the params of their latest run.
create temp table joined_scopes on commit drop as
select s.id, text_hash(s.workspace, s.workflow_name, l.workflow_kind, s.target, s.step, l.kept::text) as hash
from scopes s cross join lateral (
  select j.workflow_kind, j.params,
         coalesce((select jsonb_object_agg(key, value) from jsonb_each(j.params)
                   where key !~ '^(.+_)?(threads|rate|rate_limit|concurrency|timeout|delay|retries)$'
                     and key not in ('tactic', 'threads_hold', 'wait_seconds')), '{}') as kept
  from scans c join runs r on r.id = c.run_id join jobs j on j.id = r.job_no
  where c.scope_id = s.id order by c.run_id desc limit 1) l
where l.kept <> l.params;
alter table joined_scopes add column keeps bigint;
update joined_scopes j set keeps = coalesce(
  (select id from scopes s where s.scope_hash = j.hash),
  (select min(o.id) from joined_scopes o where o.hash = j.hash));
insert into sightings as s (kind, record_id, scope_id, run_id, attempt)
select distinct on (o.kind, o.record_id, j.keeps) o.kind, o.record_id, j.keeps, o.run_id, o.attempt
from sightings o join joined_scopes j on j.id = o.scope_id where j.id <> j.keeps
order by o.kind, o.record_id, j.keeps, o.run_id desc, o.attempt desc
on conflict (kind, record_id, scope_id) do update set run_id = excluded.run_id, attempt = excluded.attempt
where (s.run_id, s.attempt) < (excluded.run_id, excluded.attempt);
delete from sightings where scope_id in (select id from joined_scopes where id <> keeps);
update scans c set scope_id = j.keeps from joined_scopes j where j.id = c.scope_id and j.id <> j.keeps;
delete from scopes where id in (select id from joined_scopes where id <> keeps);
update scopes s set scope_hash = j.hash from joined_scopes j where j.id = s.id and j.id = j.keeps;
`

// Every role may execute a new function until that right is revoked.
const GRANTS = `
do $$
declare
  v_function regprocedure;
begin
  for v_function in
    select p.oid from pg_proc p
    where p.pronamespace in ('public'::regnamespace, 'worker'::regnamespace)
      and p.proowner = (select oid from pg_roles where rolname = current_user)
  loop
    execute format('revoke all on function %s from public', v_function);
  end loop;
  if exists (select from pg_roles where rolname = 'scanfarm_worker') then
    perform grant_worker_role('scanfarm_worker');
  end if;
end $$;
`
