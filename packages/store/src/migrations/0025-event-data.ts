import { sql, type Kysely } from 'kysely'

/** Bounds what an entry of the event log holds, whatever writes it. */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  for (const part of [BOUND, SYSTEM]) await sql.raw(part).execute(db)
}

const BOUND = `
-- Every writer has a bound of its own below this one. An entry beyond it would fail the statement of a worker that
-- writes it again and again, or fill the memory of all that read it: it is cut instead, and says so.
create function bound_event() returns trigger
language plpgsql as $$
begin
  if octet_length(new.data) > 1048576 then
    new.data := json_build_object('truncated', true, 'bytes', octet_length(new.data))::text;
  end if;
  new.topic := left(new.topic, 256);
  new.name := left(new.name, 256);
  new.source := left(new.source, 256);
  new.data_type := left(new.data_type, 256);
  return new;
end $$;
create trigger event_bounded before insert on event_logs for each row
  when (octet_length(new.data) > 1048576 or octet_length(new.topic) > 256 or octet_length(new.name) > 256
        or octet_length(new.source) > 256 or octet_length(new.data_type) > 256)
  execute function bound_event();
`

const SYSTEM = `
-- Data of an event that the system itself writes: beyond 64 KiB only fields of up to 4 KiB stay.
create function bounded_event_data(p_data text) returns text
language sql immutable as $$
  select case when octet_length(p_data) <= 65536 then p_data
    else (select json_object_agg(f.key, f.value) from (
            select key, value from json_each(p_data::json) where octet_length(value::text) <= 4096
            union all select 'truncated', 'true'::json union all select 'bytes', to_json(octet_length(p_data))) f)::text
    end
$$;

create or replace function run_event_data(r runs, j jobs) returns text
language sql stable as $$
  select json_build_object(
    'run_id', r.id, 'run_uuid', r.run_uuid, 'job_id', j.job_id, 'workflow', r.workflow_name, 'kind', j.workflow_kind,
    'target', r.target, 'workspace', r.workspace, 'status', r.status, 'attempt', r.attempt,
    'error_message', left(r.error_message, 8000), 'total_steps', r.total_steps, 'completed_steps', r.completed_steps)::text
$$;

-- Writes one event for each text; of a run where there is one.
create or replace function log_record_events(p_topic text, p_data_type text, p_workspace text, p_run runs, p_data text[])
returns void
language sql as $$
  insert into event_logs (topic, event_id, name, source, data_type, data, workspace, run_id, workflow_name,
                          processed, processed_at)
  select p_topic, 'evt_' || replace(gen_random_uuid()::text, '-', ''), p_topic,
         case when (p_run).id is null then 'api' else 'executor' end, p_data_type, bounded_event_data(d.data), p_workspace,
         coalesce((p_run).run_uuid::text, ''), coalesce((p_run).workflow_name, ''),
         not w.wanted, case when w.wanted then null else now() end
  from unnest(p_data) with ordinality as d(data, n)
  cross join (select event_is_wanted(p_topic) as wanted) w
  order by d.n
$$;
`
