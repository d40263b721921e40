-- Gives up to p_limit waiting runs of a job, after the run p_after, the priority of the job. A run whose message may be in
-- the queue gets a new epoch, which makes the message void, and is sent again. Returns how many runs were changed, the
-- last run of a full chunk (null: there are no more), and the void messages.
create or replace function change_priority(p_job_no bigint, p_after bigint, p_limit int)
returns table (changed int, last_id bigint, void jsonb)
language plpgsql
-- planner: batch
as $$
declare
  v_job jobs;
  v_rank int;
  v_ids bigint[];
  v_sent bigint[];
  v_rows int;
begin
  select * into v_job from jobs where id = p_job_no;
  v_rank := priority_rank(v_job.priority);
  v_ids := array(
    select id from runs where job_no = p_job_no and id > p_after and status || '' = 'queued'
    order by id limit p_limit for update);
  perform 1 from outbox where run_id = any(v_ids) order by run_id for update;
  update outbox set rank = v_rank
  where run_id = any(v_ids) and rank <> v_rank
    and (coalesce(sent_at + interval '0', 'infinity') = 'infinity' or run_mode || '' <> 'distributed');
  get diagnostics v_rows = row_count;
  changed := v_rows;
  if v_job.run_mode = 'distributed' then
    v_sent := array(
      select id from unnest(v_ids) id
      where id not in (
        select run_id from outbox
        where run_id = any(v_ids) and (coalesce(sent_at + interval '0', 'infinity') = 'infinity' or rank = v_rank)));
    with moved as (
      update runs set epoch = epoch + 1, updated_at = now() where id = any(v_sent) returning id, epoch
    ), offered as (
      insert into outbox (run_id, epoch, job_no, run_mode, rank, class, ready)
      select id, epoch, p_job_no, v_job.run_mode, v_rank, v_job.requirement_class, true from moved order by id
      on conflict (run_id) do update
      set epoch = excluded.epoch, rank = excluded.rank, ready = true, sent_at = null, delayed = false
    )
    select jsonb_agg(jsonb_build_object('runId', id, 'epoch', epoch - 1)) into void from moved;
    changed := changed + cardinality(v_sent);
  end if;
  last_id := case when cardinality(v_ids) = p_limit then v_ids[p_limit] end;
  if changed > 0 then
    perform notify_masters();
  end if;
  return next;
end $$;
