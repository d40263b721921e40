-- Claims up to p_limit waiting runs of machines with capacity, the most urgent first. A machine runs one at a time, or
-- its share of the concurrency of the job of the next run; every run on it counts, and no run passes a more urgent
-- one. One claim at a time in the whole farm, so that no capacity is given to two runs. A machine that is being lost
-- is skipped. Paused slots get none. Not for workers: they cannot reach the machines.
create or replace function claim_cloud(p_secret text, p_worker_id text, p_limit int) returns json
language plpgsql
-- planner: walk
as $$
declare
  v_machines bigint[];
  v_ids bigint[];
  v_suspects boolean := may_start_suspect(p_worker_id);
begin
  if not renew_lease(p_secret, p_worker_id, null, null)
     or not exists (select from workers where id = p_worker_id and wanted = 'running') then
    return '[]';
  end if;
  perform acquire_lock('cloud claim');
  -- A machine that is being lost is skipped; one that is locked cannot be lost before its runs are known.
  v_machines := array(
    select i.id from cloud_instances i join cloud_infras f on f.id = i.infra_no
    where i.status = 'ready' and f.status = 'ready'
      and exists (select from outbox o where o.instance_no = i.id and o.ready and o.run_mode = 'cloud')
    order by i.id for share of i skip locked);
  select array_agg(id) into v_ids from (
    select won.id
    from (
      select heads.run_id
      from (
        select id, (select count(*) from runs where instance_no = id_of.id and status = 'running') as busy
        from unnest(v_machines) as id_of(id) offset 0
      ) m
      cross join lateral (
        select o.run_id, o.rank,
               bool_and(m.busy + o.n <= ceil(coalesce(j.concurrency, 1)::numeric / f.instances))
                 over (order by o.rank, o.run_id) as fits
        from (
          select run_id, rank, job_no, row_number() over (order by rank, run_id) as n
          from (select run_id, rank, job_no from outbox
                where instance_no = m.id and ready and run_mode = 'cloud'
                  and (sent_at is null or sent_at < now() - interval '10 s')
                order by rank, run_id limit p_limit) waiting
        ) o
        join jobs j on j.id = o.job_no
        join cloud_infras f on f.id = j.infra_no
      ) heads
      where heads.fits
      order by heads.rank, heads.run_id
    ) o
    cross join lateral (
      select id from runs
      where id = o.run_id and status || '' = 'queued' and (v_suspects or crashes = 0)
      for update skip locked
    ) won
    limit p_limit
  ) taken;
  v_ids := startable_runs(p_worker_id, coalesce(v_ids, '{}'));
  return case when cardinality(v_ids) = 0 then '[]' else try_assign_runs(p_worker_id, v_ids) end;
end $$;
