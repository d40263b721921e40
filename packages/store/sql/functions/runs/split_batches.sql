-- Splits batches among these queued runs, which a lost worker had, into up to eight: one that takes longer than its
-- workers live would never end. A job that another transaction changes is left as it is.
create or replace function split_batches(p_ids bigint[]) returns void
language plpgsql as $$
declare
  v_run runs;
  v_job jobs;
  v_size int;
  v_made bigint[];
begin
  for v_run in select * from runs where id = any(p_ids) and batch[1] < batch[2] order by id loop
    select * into v_job from jobs
    where id = v_run.job_no and cancel_requested_at is null for no key update skip locked;
    continue when not found;
    v_size := ceil((v_run.batch[2] - v_run.batch[1] + 1) / 8.0);
    with made as (
      insert into runs (run_uuid, job_no, workflow_name, run_mode, status, target, workspace, batch, crashes,
        lost_workers)
      select gen_random_uuid(), v_job.id, v_run.workflow_name, v_run.run_mode, 'queued', v_run.target, v_run.workspace,
             array[n, least(n + v_size - 1, v_run.batch[2])], v_run.crashes, v_run.lost_workers
      from generate_series(v_run.batch[1] + v_size, v_run.batch[2], v_size) n order by n
      returning id
    )
    select array_agg(id order by id) into v_made from made;
    update runs set batch = array[batch[1], batch[1] + v_size - 1] where id = v_run.id;
    update jobs set target_count = target_count + cardinality(v_made) where id = v_job.id;
    perform fill_outbox(v_job, v_made, free_slots(v_job.id), 0);
  end loop;
end $$;
