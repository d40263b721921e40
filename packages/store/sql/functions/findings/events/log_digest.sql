-- Writes findings.digest: the sum of the events of jobs that ended in this time.
create or replace function log_digest(p_from timestamptz, p_until timestamptz) returns void
language sql as $$
  with ended as (
    select e.data::jsonb as data
    from (select * from event_logs where topic = 'job.ended' order by id desc limit 10000) e
    where e.source = 'executor' and e.created_at >= p_from and e.created_at < p_until
  ), found as (
    select kind, jsonb_object_agg(severity, count) as counts
    from (select k.key as kind, s.key as severity, sum(s.value::bigint) as count
          from ended, jsonb_each(data -> 'findings') k, jsonb_each_text(k.value) s
          where k.key <> 'not_tested' group by k.key, s.key) c
    group by kind
  ), worst as (
    select * from (
      select distinct on (w -> 'id') w from ended, jsonb_path_query(data, '$.worst[*]') w
      order by w -> 'id', severity_rank(w ->> 'severity')) f
    order by severity_rank(w ->> 'severity'), w -> 'id' limit 5
  ), unclean as (
    -- Once for each target, however many jobs did not do all of their work there.
    select * from (
      select distinct on (u ->> 'target') u || jsonb_build_object('jobs', count(*) over (partition by u ->> 'target')) as u
      from ended, jsonb_path_query(data, '$.unclean[*]') u order by u ->> 'target', u ->> 'outcome') f
    order by u ->> 'outcome', u ->> 'target' limit 5
  ), runs as (
    select r.key as name, sum(r.value::bigint) as count
    from ended, jsonb_each_text(data -> 'runs') r where r.value ~ '^\d+$' group by r.key
  )
  select insert_event(jsonb_build_object(
    'topic', 'findings.digest', 'event_id', 'evt_digest_' || extract(epoch from p_until)::bigint,
    'name', 'findings.digest', 'source', 'scheduler', 'data_type', 'digest', 'workspace', '', 'run_id', '',
    'workflow_name', '', 'data', jsonb_build_object(
      'title', format('%s of %s to %s UTC', case count(*) when 1 then 'the job' else count(*) || ' jobs' end,
                      to_char(p_from at time zone 'UTC', 'HH24:MI'), to_char(p_until at time zone 'UTC', 'HH24:MI')),
      'from', utc_text(p_from), 'until', utc_text(p_until), 'jobs', count(*),
      'runs', coalesce((select jsonb_object_agg(name, count) from runs), '{}'),
      'findings', '{"new": {}, "back": {}, "gone": {}}'::jsonb
                  || coalesce((select jsonb_object_agg(kind, counts) from found), '{}')
                  || jsonb_build_object('not_tested', not_tested_counts(array(
                       select id from jobs where job_id in (select data ->> 'job_id' from ended)))),
      'worst', coalesce((select jsonb_agg(w order by severity_rank(w ->> 'severity'), w -> 'id') from worst), '[]'),
      'unclean', coalesce((select jsonb_agg(u order by u ->> 'outcome', u ->> 'target') from unclean), '[]'),
      'path', '/changes')::text), not event_is_wanted('findings.digest'), '')
  from ended having count(*) > 0
$$;
