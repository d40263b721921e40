-- Counts up to p_limit further events in farm_series, in the order of the feed: a transaction that is still open may
-- precede later ones, so these wait. Counts and position change in one transaction, so each event is counted once. The
-- texts are split instead of parsed: an operator can emit events whose data is not JSON, and regular expressions cost
-- more than all else. Returns how many events were read; null: another master counts.
create or replace function count_events(p_limit int) returns int
language plpgsql
-- planner: backlog
as $$
declare
  v_horizon xid8 := pg_snapshot_xmin(pg_current_snapshot());
  v_tx xid8;
  v_id bigint;
  v_seen int;
begin
  if not try_lock('series') then
    return null;
  end if;
  select least(series_tx, v_horizon), series_id into v_tx, v_id from farm;
  with seen as materialized (
    select tx, id, event_id, data_type, workflow_name, created_at, source,
           case when topic in ('run.completed', 'run.failed', 'run.cancelled', 'vuln.found') then topic end as topic,
           case when topic in ('run.completed', 'run.failed', 'run.cancelled') then split_part(split_part(data, '"status" : "', 2), '"', 1)
                when topic = 'vuln.found' then split_part(split_part(data, '"severity" : "', 2), '"', 1) end as label
    from event_logs
    where (tx, id) > (v_tx, v_id) and tx < v_horizon
    order by tx, id limit p_limit
  ), ends as (
    select date_trunc('minute', created_at) as minute, workflow_name,
           case when label in ('completed', 'failed', 'cancelled') then label end as status
    from seen
    where topic in ('run.completed', 'run.failed', 'run.cancelled') and source = 'executor' and event_id like 'evt\_%\_end'
  ), counted as (
    select minute, 'run' as kind, status as label from ends
    union all select date_trunc('hour', minute), 'workflow', workflow_name from ends
    union all select date_trunc('hour', minute), 'workflow_failed', workflow_name from ends where status = 'failed'
    union all
    select date_trunc('minute', created_at), 'finding',
           case when label in ('critical', 'high', 'medium', 'low', 'info') then label end
    from seen where topic = 'vuln.found' and data_type = 'vulnerability' and source in ('executor', 'api')
  ), added as (
    insert into farm_series as s (minute, kind, label, count)
    select minute, kind, label, count(*) from counted where label is not null group by 1, 2, 3 order by 1, 2, 3
    on conflict (minute, kind, label) do update set count = s.count + excluded.count
  ), last as (
    select tx, id from seen order by tx desc, id desc limit 1
  )
  select (select count(*) from seen), last.tx, last.id into v_seen, v_tx, v_id from (select) one left join last on true;
  if v_seen > 0 then
    update farm set series_tx = v_tx, series_id = v_id;
  end if;
  return v_seen;
end $$;
