-- Records steps, artifacts, refusals, destinations and events of the runs p_ids, which the caller has locked. p_updates is that of
-- apply_updates.
create or replace function write_records(p_updates jsonb, p_ids bigint[]) returns void
language plpgsql
-- planner: batch
as $$
begin
  if jsonb_path_exists(p_updates, '$[*].steps') then
    insert into steps (run_id, attempt, seq, id, name, type, module, status, command, output, error_message, exports,
                       exit_code, duration_ms, log_file, started_at, completed_at, taken_from)
    select u."runId", u.attempt, s.seq, s.id, s.name, s.type, s.module, s.status, s.command, s.output, s."errorMessage",
           s.exports, s."exitCode", s."durationMs", s."logFile", s."startedAt",
           case when s.status not in ('pending', 'running') then coalesce(s."completedAt", now()) end, s."takenFrom"
    from jsonb_to_recordset(p_updates) as u("runId" bigint, attempt int, steps jsonb)
    cross join lateral jsonb_to_recordset(u.steps) as s(seq int, id uuid, name text, type text, module text, status text,
      command text, output text, "errorMessage" text, exports jsonb, "exitCode" int, "durationMs" bigint, "logFile" text,
      "startedAt" timestamptz, "completedAt" timestamptz,
      "takenFrom" jsonb)
    join runs r on r.id = u."runId" and r.attempt = u.attempt
    where r.id = any(p_ids)
    order by 1, 2, 3
    on conflict (run_id, attempt, seq) do update
    set name = excluded.name, type = excluded.type, module = excluded.module, status = excluded.status,
        command = excluded.command, output = excluded.output, error_message = excluded.error_message,
        exports = excluded.exports, exit_code = excluded.exit_code, duration_ms = excluded.duration_ms,
        log_file = excluded.log_file, started_at = excluded.started_at, completed_at = excluded.completed_at
    where steps.status = 'pending' or (steps.status = 'running' and excluded.status not in ('pending', 'skipped'));
  end if;
  if jsonb_path_exists(p_updates, '$[*].resume') then
    update runs r set resume = u.resume
    from jsonb_to_recordset(p_updates) as u("runId" bigint, attempt int, resume jsonb)
    where r.id = any(p_ids) and r.id = u."runId" and r.attempt = u.attempt and u.resume is not null;
  end if;
  if jsonb_path_exists(p_updates, '$[*].steps[*].takenFrom') then
    perform take_over_scans(r, (f.source ->> 'runUuid')::uuid, (f.source ->> 'attempt')::int)
    from jsonb_to_recordset(p_updates) as u("runId" bigint, attempt int, steps jsonb)
    cross join lateral (select distinct s -> 'takenFrom' as source from jsonb_array_elements(u.steps) s
                        where s ? 'takenFrom') f
    join runs r on r.id = u."runId" and r.attempt = u.attempt
    where r.id = any(p_ids);
  end if;
  if jsonb_path_exists(p_updates, '$[*].artifacts') then
    insert into artifacts (run_id, attempt, id, name, path, type, content_type, size_bytes, line_count, description,
                           store_key, sha256)
    select u."runId", u.attempt, a.id, a.name, a.path, a.type, a."contentType", a."sizeBytes", a."lineCount",
           a.description, a."storeKey", a.sha256
    from jsonb_to_recordset(p_updates) as u("runId" bigint, attempt int, artifacts jsonb)
    cross join lateral jsonb_to_recordset(u.artifacts) as a(id uuid, name text, path text, type text, "contentType" text,
      "sizeBytes" bigint, "lineCount" bigint, description text, "storeKey" text, sha256 text)
    join runs r on r.id = u."runId" and r.attempt = u.attempt
    where r.id = any(p_ids)
    order by 1, 2, 3
    on conflict do nothing;
  end if;
  if jsonb_path_exists(p_updates, '$[*].refusals') then
    perform record_refusals(null, (
      select coalesce(jsonb_agg(jsonb_build_object('run_id', r.id, 'attempt', r.attempt) || f.item), '[]')
      from jsonb_to_recordset(p_updates) as u("runId" bigint, attempt int, refusals jsonb)
      cross join lateral jsonb_array_elements(u.refusals) as f(item)
      join runs r on r.id = u."runId" and r.attempt = u.attempt
      where r.id = any(p_ids)));
  end if;
  if jsonb_path_exists(p_updates, '$[*].destinations') then
    insert into destinations (host, run_id, place)
    select d.host, r.id, d.place
    from jsonb_to_recordset(p_updates) as u("runId" bigint, attempt int, destinations jsonb)
    cross join lateral jsonb_to_recordset(u.destinations) as d(host text, place text)
    join runs r on r.id = u."runId" and r.attempt = u.attempt
    where r.id = any(p_ids)
    order by 1, 2, 3
    on conflict do nothing;
  end if;
  if jsonb_path_exists(p_updates, '$[*].events') then
    insert into event_logs (topic, event_id, name, source, data_type, data, workspace, run_id, workflow_name,
                            processed, processed_at)
    select e.topic, e."eventId", e.name, source_of_run_event(e.source), e."dataType", e.data, t.workspace, t.run_uuid::text, t.workflow_name,
           not w.wanted, case when w.wanted then null else now() end
    from jsonb_to_recordset(p_updates) as u("runId" bigint, attempt int, events jsonb)
    join runs r on r.id = u."runId" and r.attempt = u.attempt
    cross join lateral reported_run(r) t
    cross join lateral (
      select distinct on (x."eventId") x.* from rows from (
        jsonb_to_recordset(u.events) as (topic text, "eventId" text, name text, source text, "dataType" text, data text)
      ) with ordinality as x(topic, "eventId", name, source, "dataType", data, n)
      order by x."eventId", x.n
    ) e
    cross join lateral (select event_is_wanted(e.topic) as wanted) w
    where r.id = any(p_ids)
      and not exists (
        select 1 from event_logs old
        where old.run_id = t.run_uuid::text and old.event_id = e."eventId" and old.id >= r.event_floor
        offset 0)
    order by r.id, e.n;
  end if;
end $$;
