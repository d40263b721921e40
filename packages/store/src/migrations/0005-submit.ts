import { sql, type Kysely } from 'kysely'

/** How runs come into being, set-wise, in the transaction that makes their job; and how they go to the queue. */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  await sql.raw(INSERT).execute(db)
  await sql.raw(SUBMIT).execute(db)
  await sql.raw(TAKE).execute(db)
}

const INSERT = `
-- Makes the runs of some targets of a job, with their outbox rows. p_uuid: of a single run; null: made here.
create function insert_runs(p_job jobs, p_targets text[], p_workspaces text[], p_uuid uuid) returns void
language plpgsql as $$
declare
  v_ids bigint[];
  v_status text := case when p_job.cancel_requested_at is not null then 'cancelled'
                        when p_job.starts then 'queued' else 'pending' end;
begin
  with made as (
    insert into runs (run_uuid, job_no, workflow_name, run_mode, status, target, workspace, completed_at)
    select coalesce(p_uuid, gen_random_uuid()), p_job.id, p_job.workflow_name, p_job.run_mode, v_status,
           target, workspace, case v_status when 'cancelled' then now() end
    from unnest(p_targets, p_workspaces) as u(target, workspace)
    returning id
  )
  select array_agg(id) into v_ids from made;
  if v_status = 'queued' then
    perform fill_outbox(p_job, v_ids, free_slots(p_job.id));
  end if;
end $$;

-- Makes runs of one chunk of a large job; false when there was none. The most urgent job goes first.
create function expand_chunk() returns boolean
language plpgsql as $$
declare
  v_job jobs;
  v_chunk job_targets;
begin
  select t.* into v_chunk from job_targets t join jobs j on j.id = t.job_no
  order by priority_rank(j.priority), t.job_no, t.chunk limit 1 for update of t skip locked;
  if not found then
    return false;
  end if;
  select * into v_job from jobs where id = v_chunk.job_no for no key update;
  delete from job_targets where job_no = v_chunk.job_no and chunk = v_chunk.chunk;
  perform insert_runs(v_job, v_chunk.targets, v_chunk.workspaces, null);
  perform wake_masters();
  return true;
end $$;
`

const SUBMIT = `
-- One job with its runs, in one statement. p_job holds the columns of jobs and the workflow's JSON text. With
-- p_idempotency ({key, request_hash, status, body}) an answer that is kept already wins: it is returned and nothing
-- is made. Runs of a job with stored targets (p_stored) come later, by expand_chunk.
create function submit_job(p_job jsonb, p_targets text[], p_workspaces text[], p_uuid uuid, p_stored boolean,
                           p_idempotency jsonb) returns jsonb
language plpgsql as $$
declare
  v_job jobs;
  v_kept idempotency_keys;
begin
  if p_idempotency is not null then
    insert into idempotency_keys (key, request_hash, status, body)
    select key, request_hash, status, body from jsonb_populate_record(null::idempotency_keys, p_idempotency)
    on conflict do nothing;
    if not found then
      select * into v_kept from idempotency_keys where key = p_idempotency ->> 'key';
      return jsonb_build_object('kept', to_jsonb(v_kept));
    end if;
  end if;

  insert into pinned_workflows (hash, json) values (p_job ->> 'workflow_hash', p_job ->> 'workflow_json')
  on conflict do nothing;
  insert into jobs (job_id, workflow_name, workflow_kind, workflow_hash, params, priority, run_mode, runner_type,
    runner_given, docker_image, ssh_host, timeout_minutes, concurrency, requirement_class, trigger_type, trigger_name,
    schedule_id, event_envelope, starts, target_count)
  select job_id, workflow_name, workflow_kind, workflow_hash, params, priority, run_mode, runner_type,
    runner_given, docker_image, ssh_host, timeout_minutes, concurrency, requirement_class, trigger_type, trigger_name,
    schedule_id, event_envelope, starts, target_count
  from jsonb_populate_record(null::jobs, p_job)
  returning * into v_job;
  if not p_stored then
    perform insert_runs(v_job, p_targets, p_workspaces, p_uuid);
  end if;
  perform wake_masters();
  return jsonb_build_object('job_no', v_job.id);
end $$;

-- pending -> queued. Returns whether it moved.
create function start_run(p_id bigint) returns boolean
language plpgsql as $$
declare
  v_job jobs;
  v_free int;
begin
  select j.* into v_job from jobs j join runs r on r.job_no = j.id where r.id = p_id;
  v_free := free_slots(v_job.id);
  update runs set status = 'queued', updated_at = now() where id = p_id and status = 'pending';
  if not found then
    return false;
  end if;
  perform fill_outbox(v_job, array[p_id], v_free);
  perform wake_masters();
  return true;
end $$;
`

const TAKE = `
-- Takes ready rows of the given classes in priority order, then by run id, and marks them as sent. Rows whose mark is
-- older than p_stale_ms come first: their message may never have arrived. p_room[rank]: most rows of that rank.
create function take_outbox(p_classes text[], p_room int[], p_limit int, p_stale_ms int) returns setof outbox
language plpgsql as $$
declare
  v_left int := p_limit;
  v_rows int;
begin
  return query
    update outbox set sent_at = now()
    where run_id in (
      select run_id from outbox
      where sent_at < now() - p_stale_ms * interval '1 ms' and class = any(p_classes) and run_mode = 'distributed'
      order by rank, run_id limit v_left for update skip locked)
    returning *;
  get diagnostics v_rows = row_count;
  v_left := v_left - v_rows;
  for v_rank in 1..4 loop
    exit when v_left <= 0;
    return query
      with next as (
        select o.run_id from unnest(p_classes) as c(class) cross join lateral (
          select run_id from outbox
          where class = c.class and rank = v_rank and ready and sent_at is null and run_mode = 'distributed'
          order by class, rank, run_id limit least(v_left, p_room[v_rank]) for update skip locked
        ) o
        order by o.run_id limit least(v_left, p_room[v_rank])
      ),
      marked as (update outbox set sent_at = now() where run_id in (select run_id from next) returning *)
      select * from marked order by run_id;
    get diagnostics v_rows = row_count;
    v_left := v_left - v_rows;
  end loop;
end $$;
`
