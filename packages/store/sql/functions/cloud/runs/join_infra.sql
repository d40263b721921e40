-- Gives a new cloud job its infrastructure. This is the last statement of its transaction: a new infrastructure
-- locks the budget of the farm, and a reused one is locked, until the transaction ends.
create or replace function join_infra(p_job_no bigint, p_cloud jsonb) returns void
language plpgsql as $$
declare
  v_job jobs;
  v_infra_no bigint := resolve_infra(p_cloud);
begin
  update jobs set infra_no = v_infra_no where id = p_job_no returning * into v_job;
  perform 1 from cloud_infras where id = v_infra_no for no key update;
  perform mark_infra_due(v_infra_no);
  perform require_infra(v_infra_no, asks_auto_destroy(v_job));
end $$;
