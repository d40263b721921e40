-- Ends some of the runs of an infrastructure that accepts no more: {handled, asked}. The caller repeats it until it
-- has handled none.
create or replace function end_some_runs_of_infra(p_infra_no bigint, p_limit int) returns jsonb
language plpgsql
-- planner: walk
as $$
declare
  v_ends_as text := (select ends_runs_as from cloud_infras where id = p_infra_no);
  v_ids bigint[];
begin
  if v_ends_as is null then
    return '{"handled": 0, "asked": []}';
  end if;
  v_ids := array(
    select r.id from jobs j join runs r on r.job_no = j.id
    where j.infra_no = p_infra_no and r.run_mode = 'cloud' and r.status in ('pending', 'queued', 'running')
      and (r.status = 'queued'
           or (r.status = 'running' and (v_ends_as = 'failed' or r.cancel_requested_at is null)))
    limit p_limit);
  return jsonb_build_object('handled', cardinality(v_ids), 'asked', to_jsonb(end_runs_of_infra(p_infra_no, v_ids)));
end $$;
