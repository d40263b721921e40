-- Binds up to p_limit waiting runs of a ready infrastructure to its ready machines in turn. Runs whose row another
-- transaction has locked are left for the next call.
create or replace function bind_runs(p_infra_no bigint, p_limit int) returns int
language plpgsql
-- planner: walk
as $$
declare
  v_machines bigint[];
  v_left bigint[];
  v_bound bigint;
  v_ids bigint[];
begin
  perform acquire_lock('cloud binding ' || p_infra_no % 16);
  select bound into v_bound from cloud_infras where id = p_infra_no and status = 'ready';
  if not found then
    return 0;
  end if;
  v_machines := array(
    select id from cloud_instances where infra_no = p_infra_no and status = 'ready' order by id for share);
  -- A run may have been handed back while its machine was marked as lost.
  v_left := array(
    select i.id from cloud_instances i
    where i.infra_no = p_infra_no and i.status <> 'ready'
      and exists (select from outbox o where o.run_mode = 'cloud' and o.instance_no = i.id));
  if cardinality(v_left) > 0 then
    perform move_runs_off_instances(v_left, null);
  end if;
  if cardinality(v_machines) = 0 then
    return 0;
  end if;
  select array_agg(id order by id) into v_ids from (
    select won.id
    from (
      select o.run_id from jobs j join outbox o on o.job_no = j.id
      where j.infra_no = p_infra_no and o.run_mode = 'cloud' and o.instance_no is null
      order by o.run_id limit p_limit
    ) o
    cross join lateral (
      select id from runs where id = o.run_id and status || '' = 'queued' for update skip locked
    ) won
  ) taken;
  if v_ids is null then
    return 0;
  end if;
  update runs r set instance_no = v_machines[1 + (v_bound + u.n - 1) % cardinality(v_machines)]
  from unnest(v_ids) with ordinality u(id, n)
  where r.id = u.id;
  update outbox o set instance_no = v_machines[1 + (v_bound + u.n - 1) % cardinality(v_machines)]
  from unnest(v_ids) with ordinality u(id, n)
  where o.run_id = u.id;
  update cloud_infras set bound = bound + cardinality(v_ids) where id = p_infra_no;
  perform notify_masters();
  return cardinality(v_ids);
end $$;
