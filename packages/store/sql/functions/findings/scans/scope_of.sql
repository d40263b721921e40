-- The scope of a run's step in a workspace, created on first use. p_params are the params that decide what is
-- scanned (null: all params of the job); older scopes have none.
create or replace function scope_of(p_run runs, p_workspace text, p_step text, p_params jsonb) returns bigint
language plpgsql as $$
declare
  v_hash bytea;
  v_params jsonb;
  v_id bigint;
begin
  select coalesce(p_params, j.params), text_hash(p_workspace, p_run.workflow_name, j.workflow_kind, p_run.target, p_step,
                                                 coalesce(p_params, j.params)::text) into v_params, v_hash
  from jobs j where j.id = p_run.job_no;
  select id into v_id from scopes where scope_hash = v_hash and scan_params is not null;
  if v_id is null then
    insert into scopes (workspace, workflow_name, target, step, scope_hash, scan_params)
    values (p_workspace, p_run.workflow_name, p_run.target, p_step, v_hash, v_params)
    on conflict (scope_hash) do update set scan_params = excluded.scan_params
    returning id into v_id;
  end if;
  return v_id;
end $$;
