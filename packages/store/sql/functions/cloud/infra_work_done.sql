-- Whether an infrastructure has jobs and none of their runs can run any more.
create or replace function infra_work_done(p_infra_no bigint) returns boolean
language sql stable as $$
  select exists (select from jobs where infra_no = p_infra_no)
     and not exists (select from jobs j join job_targets t on t.job_no = j.id where j.infra_no = p_infra_no)
     and not exists (
       select from jobs j
       where j.infra_no = p_infra_no and exists (
         select from runs r
         where r.job_no = j.id and r.run_mode = 'cloud' and r.status in ('pending', 'queued', 'running')))
$$;
