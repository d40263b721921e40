import { sql, type Kysely } from 'kysely'

/**
 * Frees storage: partitions that nothing needs, folders of workspaces on machines, and bytes in the artifact store that
 * no row names. Texts of a finding are stored once.
 */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  for (const part of [PARTITIONS, WORKSPACES, STRAYS, FINDINGS, GRANTS]) await sql.raw(part).execute(db)
}

const DEFINER = `security definer set search_path = pg_catalog, public, pg_temp`

const PARTITIONS = `
-- For the check that no job has a workflow which is to be removed.
create index jobs_workflow on jobs (workflow_hash);

-- Whether a range is behind the newest id and nothing needs it: no run whose steps could come, no row at all, or,
-- for events, none of the last p_days (null: however old they are, they stay).
create function is_unused_partition(p_parent text, p_name text, p_from bigint, p_to bigint, p_days int) returns boolean
language plpgsql as $$
declare
  v_last bigint;
  v_newest timestamptz;
begin
  execute format('select last_value from %I', case p_parent when 'steps' then 'runs_id_seq' else 'event_logs_id_seq' end)
  into v_last;
  if v_last < p_to or (p_parent = 'steps' and exists (select from runs where id >= p_from and id < p_to)) then
    return false;
  end if;
  execute format('select created_at from %I order by %I desc limit 1', p_name,
    case p_parent when 'steps' then 'run_id' else 'id' end) into v_newest;
  return v_newest is null
    or (p_parent = 'event_logs' and p_days is not null and v_newest < now() - p_days * interval '1 day');
end $$;

-- Drops ranges of steps and events that no run needs; returns how many. One master at a time. Reads and writes wait while
-- a range is dropped. If the table is locked, the function stops after 500 ms and the next call tries again.
create function drop_unused_partitions(p_days int) returns int
language plpgsql set lock_timeout = '500ms' as $$
declare
  v_part record;
  v_dropped int := 0;
begin
  if not pg_try_advisory_xact_lock(hashtext('scanfarm partitions')) then
    return 0;
  end if;
  for v_part in
    select p.relname::text as parent, c.relname::text as name, b.bounds[1]::bigint as lower, b.bounds[2]::bigint as upper
    from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
    cross join lateral regexp_match(pg_get_expr(c.relpartbound, c.oid), 'FROM \\(''(\\d+)''\\) TO \\(''(\\d+)''\\)') as b(bounds)
    where i.inhparent in ('steps'::regclass, 'event_logs'::regclass) and b.bounds is not null
    order by 1, 3
  loop
    begin
      continue when not is_unused_partition(v_part.parent, v_part.name, v_part.lower, v_part.upper, p_days);
      execute format('lock table only %I in access exclusive mode', v_part.parent);
      if is_unused_partition(v_part.parent, v_part.name, v_part.lower, v_part.upper, p_days) then
        execute format('drop table %I', v_part.name);
        v_dropped := v_dropped + 1;
      end if;
    exception when lock_not_available then
      return v_dropped;
    end;
  end loop;
  return v_dropped;
-- Of the list of ranges, which waits for each of them.
exception when lock_not_available then
  return 0;
end $$;
`

const WORKSPACES = `
-- Workspaces of which the retention of runs has removed a run. Machines remove the folders of those without any run.
create table pruned_workspaces (
  workspace text collate "C" primary key,
  pruned_at timestamptz not null default now()
);
create index pruned_workspaces_age on pruned_workspaces (pruned_at);

-- Workspaces among p_names whose folders on a machine may be removed: the retention has removed their last run; or the
-- folder is old (p_old) and they have no run that is not over, or that ended in the last p_days.
create function worker.removable_workspaces(p_names text[], p_old boolean[], p_days int) returns jsonb
language plpgsql stable ${DEFINER} set enable_seqscan = off set jit = off as $$
begin
  return (
    select coalesce(jsonb_agg(w.name), '[]')
    from unnest(p_names, p_old) as w(name, is_old)
    where case
      when exists (select from runs r where r.workspace = w.name) then
        w.is_old and not exists (
          select from runs r
          where r.workspace = w.name
            and (r.completed_at is null or r.completed_at >= now() - p_days * interval '1 day'))
      else w.is_old or exists (select from pruned_workspaces p where p.workspace = w.name)
    end);
end $$;
`

const STRAYS = `
-- Keys of the artifact store that no row of their run names, and none will: their attempt is not under way. Keys of
-- runs that this farm does not have are left out, for another farm may share the store.
create function worker.stray_keys(p_run_uuids uuid[], p_attempts int[], p_keys text[]) returns jsonb
language plpgsql stable ${DEFINER} set enable_seqscan = off set jit = off as $$
begin
  return (
    with asked as materialized (
      select k.key, r.id as run_id
      from unnest(p_run_uuids, p_attempts, p_keys) as k(run_uuid, attempt, key)
      cross join lateral (select id, attempt, status from runs where run_uuid = k.run_uuid offset 0) r
      where r.status <> 'running' or r.attempt <> k.attempt
    ), named as (
      select n.key
      from (select distinct run_id from asked) a
      cross join lateral (
        select store_key as key from artifacts where run_id = a.run_id
        union all select log_file from steps where run_id = a.run_id and log_file <> ''
        offset 0) n
    ), stray as (select key from asked except select key from named)
    select coalesce(jsonb_agg(key), '[]') from stray);
end $$;
`

// A scanner's record repeats the request and the response, which are stored in columns. The stored record has a marker
// in their place: the hash of the text, so that a marker restores that text alone, between characters that JSON forbids.
const FINDINGS = `
create function raw_marker(p_text text) returns text
language sql immutable as $$ select chr(1) || md5(p_text) || chr(1) $$;

create function json_inside(p_text text) returns text
language sql immutable as $$ select substr(to_json(p_text)::text, 2, length(to_json(p_text)::text) - 2) $$;

-- The record of a finding as its scanner wrote it.
create function whole_raw(p_raw text, p_request text, p_response text) returns text
language sql immutable as $$
  select case when strpos(p_raw, chr(1)) = 0 then p_raw
    else replace(replace(p_raw, raw_marker(p_request), json_inside(p_request)),
                 raw_marker(p_response), json_inside(p_response)) end
$$;

-- The same without what the other columns have; short texts are not worth it. Only what occurs once, so that nothing
-- becomes larger than its columns together when it is read.
create function short_raw(p_raw text, p_request text, p_response text) returns text
language plpgsql immutable as $$
declare
  v_short text := p_raw;
  v_text text;
  v_inside text;
begin
  if strpos(p_raw, chr(1)) > 0 then
    return p_raw;
  end if;
  foreach v_text in array array[p_response, p_request] loop
    v_inside := json_inside(v_text);
    if length(v_text) > 64 and length(v_short) - length(replace(v_short, v_inside, '')) = length(v_inside) then
      v_short := replace(v_short, v_inside, raw_marker(v_text));
    end if;
  end loop;
  return case when whole_raw(v_short, p_request, p_response) = p_raw then v_short else p_raw end;
end $$;

-- A text that did not change keeps its place outside of the row; otherwise every sighting would write all of it again.
create function store_finding_once() returns trigger
language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    if new.raw_vuln_json = old.raw_vuln_json then
      -- It may be the old record with a new request beside it.
      new.raw_vuln_json := whole_raw(new.raw_vuln_json, old.detail_http_request, old.detail_http_response);
    end if;
    if new.vuln_desc = old.vuln_desc then new.vuln_desc := old.vuln_desc; end if;
    if new.vuln_poc = old.vuln_poc then new.vuln_poc := old.vuln_poc; end if;
    if new.detail_http_request = old.detail_http_request then
      new.detail_http_request := old.detail_http_request;
    end if;
    if new.detail_http_response = old.detail_http_response then
      new.detail_http_response := old.detail_http_response;
    end if;
  end if;
  new.raw_vuln_json := short_raw(
    whole_raw(new.raw_vuln_json, new.detail_http_request, new.detail_http_response),
    new.detail_http_request, new.detail_http_response);
  if tg_op = 'UPDATE' then
    if new.raw_vuln_json = old.raw_vuln_json then new.raw_vuln_json := old.raw_vuln_json; end if;
  end if;
  return new;
end $$;
create trigger finding_stored_once
  before insert or update of vuln_desc, vuln_poc, detail_http_request, detail_http_response, raw_vuln_json
  on vulnerabilities
  for each row execute function store_finding_once();

create function store_asset_once() returns trigger
language plpgsql as $$
begin
  new.raw_json_data := old.raw_json_data;
  return new;
end $$;
create trigger asset_stored_once before update of raw_json_data on assets
  for each row when (new.raw_json_data = old.raw_json_data) execute function store_asset_once();
`

const GRANTS = `
revoke all on function is_unused_partition(text, text, bigint, bigint, int) from public;
revoke all on function drop_unused_partitions(int) from public;
revoke all on function worker.removable_workspaces(text[], boolean[], int) from public;
revoke all on function worker.stray_keys(uuid[], int[], text[]) from public;
do $$
begin
  if exists (select from pg_roles where rolname = 'scanfarm_worker') then
    perform grant_worker_role('scanfarm_worker');
  end if;
end $$;
`
