-- Where works_once says so: with a run that ends clean, identical runs that have waited since before it began end too. For
-- runs that are about to end, like p_ends of end_runs; returns the elements to add for those that join them, whose rows it
-- locks. A row that another statement has locked is left out: that run starts later.
create or replace function joined_ends(p_ends jsonb) returns jsonb
language plpgsql
-- planner: walk
as $$
declare
  v_joins jsonb;
  v_locked bigint[];
begin
  if not works_once(null) then
    return '[]';
  end if;
  select jsonb_object_agg(t.id, jsonb_build_object('id', t.id, 'status', e.status, 'error', '', 'tally', e.tally,
                                                   'facts', jsonb_build_object('joined', r.run_uuid)))
  into v_joins
  from jsonb_to_recordset(p_ends) as e(id bigint, status text, tally jsonb)
  join runs r on r.id = e.id and r.status || '' = 'running' and r.batch is null
  join jobs j on j.id = r.job_no
  cross join lateral twins_of(r.workflow_name, r.workspace, r.target, 'queued') as t(id)
  where run_outcome(e.status, e.tally) = 'clean' and exists (
    select from runs q join jobs k on k.id = q.job_no
    where q.id = t.id and q.created_at < r.started_at and q.attempt = 0 and q.cancel_requested_at is null
      and k.cancel_requested_at is null and k.resume_from is null and works_once(q.id)
      and (k.workflow_hash, k.params, k.run_mode, k.runner_type, k.docker_image, k.docker_network, k.ssh_host,
           k.event_envelope)
        = (j.workflow_hash, j.params, j.run_mode, j.runner_type, j.docker_image, j.docker_network, j.ssh_host,
           j.event_envelope)
      and k.scope_no is not distinct from j.scope_no);
  if v_joins is null then
    return '[]';
  end if;
  v_locked := array(select id from runs where status || '' = 'queued' and attempt = 0
                      and id = any(array(select jsonb_object_keys(v_joins)::bigint)) order by id for update skip locked);
  return coalesce((select jsonb_agg(v_joins -> id::text) from unnest(v_locked) id), '[]');
end $$;
