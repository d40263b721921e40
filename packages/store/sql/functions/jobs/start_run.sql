-- Moves a run from pending to queued. Returns whether it moved.
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
  perform fill_outbox(v_job, array[p_id], v_free, 0);
  perform notify_masters();
  return true;
end $$;
