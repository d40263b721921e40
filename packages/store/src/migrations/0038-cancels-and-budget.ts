import { sql, type Kysely } from 'kysely'

/** Cancels that another master completes, and budget decisions that do not lock the budget while a job is stored. */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  await sql.raw(CANCEL).execute(db)
  await sql.raw(BUDGET).execute(db)
  await sql.raw(SUBMIT).execute(db)
}

const CANCEL = `
-- From when on any master may go on with a cancel that has not reached all runs of the job; null: it has, or there is
-- none. The master that works on it moves the time on.
alter table jobs add column cancel_due_at timestamptz;
create index jobs_cancel_due on jobs (cancel_due_at) where cancel_due_at is not null;
update jobs set cancel_due_at = now()
where cancel_requested_at is not null
  and exists (select from runs where job_no = jobs.id and completed_at is null);
`

const BUDGET = `
-- Refuses early what infra_for would surely refuse now, and takes no lock: infra_for decides.
create function foresee_infra(p_cloud jsonb) returns void
language plpgsql as $$
declare
  v_problems text;
begin
  if p_cloud ->> 'reuse' is not null then
    return;
  end if;
  v_problems := budget_problems(jsonb_populate_record(null::cloud_infras, p_cloud -> 'infra'), p_cloud -> 'budget');
  if v_problems is not null then
    raise exception using errcode = 'SF001', message = v_problems;
  end if;
end $$;
revoke all on function foresee_infra(jsonb) from public;

-- Gives a new cloud job its infrastructure. The last statement of its transaction: a new infrastructure locks the budget
-- of the farm, and one that is reused is held, until the transaction ends.
create function join_infra(p_job_no bigint, p_cloud jsonb) returns void
language plpgsql as $$
declare
  v_job jobs;
  v_infra_no bigint := infra_for(p_cloud);
begin
  update jobs set infra_no = v_infra_no where id = p_job_no returning * into v_job;
  perform 1 from cloud_infras where id = v_infra_no for no key update;
  perform poke_infra(v_infra_no);
  perform demand_infra(v_infra_no, asks_auto_destroy(v_job));
end $$;
revoke all on function join_infra(bigint, jsonb) from public;
`

const SUBMIT = `
-- As it was in 0015, but that the infrastructure of a cloud job may come later in the same transaction (join_infra).
create or replace function fill_outbox(p_job jobs, p_ids bigint[], p_free int) returns void
language plpgsql as $$
begin
  if p_job.concurrency is not null then
    insert into slots (run_id, job_no) select id, p_job.id from unnest(p_ids[1:p_free]) id;
  end if;
  insert into outbox (run_id, epoch, job_no, run_mode, rank, class, ready)
  select id, 0, p_job.id, p_job.run_mode, priority_rank(p_job.priority), p_job.requirement_class,
         p_job.concurrency is null or n <= p_free
  from unnest(p_ids) with ordinality u(id, n);
  if p_job.infra_no is not null then
    perform seek_machines(p_ids);
  end if;
end $$;

-- pending -> queued. Returns whether it moved.
create or replace function start_run(p_id bigint) returns boolean
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
  if v_job.run_mode = 'cloud' and v_job.infra_no is null then
    raise exception 'a cloud run cannot start without an infrastructure';
  end if;
  perform fill_outbox(v_job, array[p_id], v_free);
  perform wake_masters();
  return true;
end $$;

-- One job with its runs, in one statement. p_job holds the columns of jobs and the workflow's JSON text, and for a
-- cloud job cloud_infra ({infra, budget} or {reuse}). With p_idempotency ({key, request_hash, status, body}) an answer
-- that is kept already wins: it is returned and nothing is made. Runs of a job with stored targets (p_stored) come
-- later, by expand_chunk; the caller stores the targets and then calls join_infra for a cloud job.
create or replace function submit_job(p_job jsonb, p_targets text[], p_workspaces text[], p_uuid uuid, p_stored boolean,
                           p_idempotency jsonb) returns jsonb
language plpgsql as $$
declare
  v_job jobs;
  v_kept idempotency_keys;
  v_cloud jsonb := nullif(p_job -> 'cloud_infra', 'null');
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

  perform foresee_infra(v_cloud) where v_cloud is not null;
  insert into pinned_workflows (hash, json) values (p_job ->> 'workflow_hash', p_job ->> 'workflow_json')
  on conflict do nothing;
  insert into jobs (job_id, workflow_name, workflow_kind, workflow_hash, params, priority, run_mode, runner_type,
    runner_given, docker_image, docker_network, ssh_host, timeout_minutes, concurrency, requirement_class, trigger_type, trigger_name,
    schedule_id, event_envelope, starts, target_count, cloud)
  select job_id, workflow_name, workflow_kind, workflow_hash, params, priority, run_mode, runner_type,
    runner_given, docker_image, coalesce(docker_network, ''), ssh_host, timeout_minutes, concurrency, requirement_class, trigger_type, trigger_name,
    schedule_id, event_envelope, starts, target_count, cloud
  from jsonb_populate_record(null::jobs, p_job)
  returning * into v_job;
  perform wake_masters();
  if not p_stored then
    perform insert_runs(v_job, p_targets, p_workspaces, p_uuid);
    perform join_infra(v_job.id, v_cloud) where v_cloud is not null;
  end if;
  return jsonb_build_object('job_no', v_job.id);
end $$;
`
