-- Starts a pending cloud run on the infrastructure of its job while that accepts runs, else on the one that p_cloud
-- names.
create or replace function start_cloud_run(p_id bigint, p_cloud jsonb) returns boolean
language plpgsql as $$
declare
  v_job jobs;
begin
  select j.* into v_job from jobs j join runs r on r.job_no = j.id where r.id = p_id for no key update of j;
  perform 1 from runs where id = p_id and status = 'pending' for update;
  if not found then
    return false;
  end if;
  if not exists (select from cloud_infras where id = v_job.infra_no and ends_runs_as is null) then
    v_job.infra_no := resolve_infra(p_cloud);
    update jobs set infra_no = v_job.infra_no where id = v_job.id;
  end if;
  perform start_run(p_id);
  perform require_infra(v_job.infra_no, asks_auto_destroy(v_job));
  return true;
end $$;
