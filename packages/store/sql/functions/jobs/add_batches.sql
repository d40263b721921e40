-- Gives items of this batch to further runs of its loop: p_ranges has the first and the last item of ranges, which become
-- batches of p_size items, or of sizes as those of a new loop with the items that wait. False: another transaction changes
-- the job.
create or replace function add_batches(p_run_id bigint, p_ranges jsonb, p_size int) returns boolean
language plpgsql as $$
declare
  v_run runs;
  v_job jobs;
  v_open int;
  v_made bigint[];
begin
  select * into v_run from runs where id = p_run_id;
  select * into v_job from jobs where id = v_run.job_no for no key update skip locked;
  if not found or v_job.cancel_requested_at is not null then
    return false;
  end if;
  v_open := (select coalesce(sum(batch[2] - batch[1] + 1), 0) from runs where job_no = v_job.id and status = 'queued');
  with made as (
    insert into runs (run_uuid, job_no, workflow_name, run_mode, status, target, workspace, batch, crashes, lost_workers)
    select gen_random_uuid(), v_job.id, v_run.workflow_name, v_run.run_mode, 'queued', v_run.target, v_run.workspace,
           array[u.first + b.first, u.first + b.last], v_run.crashes, v_run.lost_workers
    from jsonb_array_elements(p_ranges) r, lateral (select (r ->> 0)::int as first, (r ->> 1)::int as last) u,
         batch_sizes(u.last - u.first + 1, p_size, coalesce(v_job.concurrency, farm_slots()), v_open) b
    order by u.first, b.first
    returning id
  )
  select array_agg(id order by id) into v_made from made;
  update jobs set target_count = target_count + cardinality(v_made) where id = v_job.id;
  perform fill_outbox(v_job, v_made, free_slots(v_job.id), 0);
  return true;
end $$;
