import { sql, type Kysely } from 'kysely'

/**
 * The part that runs have in findings: what workers may import and read (fenced, as all they write), and the judgement
 * of what a complete scan no longer sees.
 */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  await sql.raw(WORKER).execute(db)
  await sql.raw(WORKSPACES).execute(db)
  await sql.raw(JUDGE).execute(db)
  await sql.raw(GRANTS).execute(db)
}

const DEFINER = `security definer set search_path = pg_catalog, public, pg_temp`
const BY_INDEX = `set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off`

const WORKER = `
-- The scope of a run's step in a workspace; made when it is met first.
create function scope_of(p_run runs, p_workspace text, p_step text) returns bigint
language plpgsql as $$
declare
  v_hash bytea;
  v_id bigint;
begin
  select text_hash(p_workspace, p_run.workflow_name, j.workflow_kind, p_run.target, p_step, j.params::text) into v_hash
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

-- Brings in what a step of a run found; p_errors counts the records that it could not use. Null: the caller does not
-- own the run, and nothing was written. The run's row is held until all is written, so that it cannot be given to
-- another worker in between.
create function worker.import_records(p_run_id bigint, p_attempt int, p_step text, p_kind text, p_workspace text,
                                      p_source text, p_items jsonb, p_errors int) returns jsonb
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
  v_scope := scope_of(v_run, p_workspace, p_step);
  insert into scans as s (run_id, attempt, scope_id, kind, errors)
  values (p_run_id, p_attempt, v_scope, p_kind, p_errors)
  on conflict (run_id, attempt, scope_id, kind) do update set errors = s.errors + excluded.errors
  where excluded.errors > 0;
  v_counts := case p_kind
    when 'asset' then import_assets(p_workspace, p_items, p_source, v_run, v_scope)
    else import_vulnerabilities(p_workspace, p_items, p_source, v_run, v_scope)
  end;
  return v_counts || jsonb_build_object('errors', p_errors);
end $$;

-- Reading needs the fence no less: a worker sees the findings only while it has a run to run.
create function worker.records(p_run_id bigint, p_attempt int, p_kind text, p_workspace text, p_filter jsonb, p_limit int)
returns jsonb
language plpgsql ${DEFINER} set jit = off as $$
declare
  v_records jsonb;
  v_first bigint;
begin
  if not exists (select from runs where id = p_run_id and attempt = p_attempt and status = 'running') then
    return null;
  end if;
  v_first := case when p_filter ->> 'first_seen_run' ~ '^[0-9a-f-]{36}$'
                  then (select id from runs where run_uuid = (p_filter ->> 'first_seen_run')::uuid) end;
  if p_kind = 'asset' then
    select jsonb_agg(to_jsonb(a) - '{asset_hash,raw_json_data,first_run,last_run,opened_at}'::text[] order by a.id)
    into v_records
    from (select * from assets
          where workspace = p_workspace
            and (p_filter ->> 'asset_type' is null or asset_type = p_filter ->> 'asset_type')
            and (p_filter ->> 'status_code' is null or status_code::text = p_filter ->> 'status_code')
            and (p_filter ->> 'first_seen_run' is null or first_run = v_first)
          order by id limit p_limit) a;
  else
    select jsonb_agg(to_jsonb(v) - '{finding_hash,holds,detail_http_request,detail_http_response,raw_vuln_json,first_run,last_run,opened_at}'::text[]
                     order by v.id)
    into v_records
    from (select * from vulnerabilities
          where workspace = p_workspace
            and (p_filter ->> 'severity' is null
                 or severity = any(string_to_array(lower(replace(p_filter ->> 'severity', ' ', '')), ',')))
            and (p_filter ->> 'asset_value' is null or strpos(lower(asset_value), lower(p_filter ->> 'asset_value')) > 0)
            and (p_filter ->> 'first_seen_run' is null or first_run = v_first)
          order by id limit p_limit) v;
  end if;
  return coalesce(v_records, '[]');
end $$;
`

const WORKSPACES = `
-- Numbers that workflows keep for a workspace.
create table workspace_counters (
  workspace text collate "C" not null,
  name text collate "C" not null,
  value bigint not null,
  primary key (workspace, name)
);

-- Adds, or sets to 0 when p_add is null.
create function worker.add_to_counter(p_run_id bigint, p_attempt int, p_workspace text, p_name text, p_add bigint)
returns bigint
language plpgsql ${DEFINER} ${BY_INDEX} as $$
declare
  v_value bigint;
begin
  perform 1 from runs where id = p_run_id and attempt = p_attempt and status = 'running' for share;
  if not found then
    return null;
  end if;
  insert into workspace_counters as c (workspace, name, value) values (p_workspace, p_name, coalesce(p_add, 0))
  on conflict (workspace, name) do update set value = case when p_add is null then 0 else c.value + p_add end
  returning value into v_value;
  return v_value;
end $$;

create function worker.runs_of(p_run_id bigint, p_attempt int, p_workspace text, p_run_uuid text, p_limit int)
returns jsonb
language plpgsql ${DEFINER} set jit = off as $$
declare
  v_runs jsonb;
begin
  if not exists (select from runs where id = p_run_id and attempt = p_attempt and status = 'running') then
    return null;
  end if;
  select jsonb_agg(jsonb_build_object(
    'id', r.id, 'run_uuid', r.run_uuid, 'workflow_name', r.workflow_name, 'target', r.target,
    'workspace', r.workspace, 'status', r.status, 'total_steps', r.total_steps,
    'completed_steps', r.completed_steps, 'error_message', r.error_message, 'started_at', r.started_at,
    'completed_at', r.completed_at) order by r.id desc)
  into v_runs
  from (select * from runs where p_run_uuid = '' and workspace = p_workspace
        union all
        select * from runs
        where run_uuid = case when p_run_uuid ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then p_run_uuid::uuid end
        order by id desc limit p_limit) r;
  return coalesce(v_runs, '[]');
end $$;
`

const JUDGE = `
-- Judges the scans of up to p_limit ended runs. What a complete scan no longer saw, and no other scope has seen since, is
-- gone. Complete: the run is completed, none of its steps failed, and the import could use every record. Only one
-- master judges at a time. History of a scope beyond p_history runs goes. Returns how many runs were judged.
create function judge_scans(p_limit int, p_history int) returns int
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
    update scans set judged_at = now() where run_id = v_run.id and judged_at is null;
    v_judged := v_judged + 1;
  end loop;
  return v_judged;
end $$;

-- Records are locked before sightings, in the order of identities, as imports do.
create function close_unseen(p_scan scans) returns void
language plpgsql as $$
declare
  v_ids bigint[];
begin
  select array_agg(record_id) into v_ids from sightings
  where scope_id = p_scan.scope_id and kind = p_scan.kind and (run_id, attempt) < (p_scan.run_id, p_scan.attempt);
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

create function forget_old_scans(p_scope_id bigint, p_history int) returns void
language plpgsql as $$
declare
  v_last bigint;
begin
  select run_id into v_last from (
    select distinct run_id from scans where scope_id = p_scope_id order by run_id desc offset p_history limit 1) old;
  if v_last is null then
    return;
  end if;
  delete from observations where run_id in (select run_id from scans where scope_id = p_scope_id and run_id <= v_last);
  delete from scans where scope_id = p_scope_id and run_id <= v_last and judged_at is not null;
end $$;
`

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
