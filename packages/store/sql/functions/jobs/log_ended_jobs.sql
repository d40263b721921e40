-- Writes the events of jobs whose final counts have just been stored: job.ended and, for a job of a schedule,
-- schedule.ended. Jobs that were imported ended long ago, so they have none.
create or replace function log_ended_jobs(p_job_nos bigint[]) returns void
language sql as $$
  insert into event_logs (topic, event_id, name, source, data_type, data, workspace, run_id, workflow_name,
                          processed, processed_at)
  select e.topic, format('evt_%s_%s', j.job_id, replace(e.topic, '.', '_')),
         case e.topic when 'schedule.ended' then s.name else e.topic end, e.source, e.data_type,
         json_build_object(
           'job_id', j.job_id, 'workflow', j.workflow_name, 'kind', j.workflow_kind, 'trigger_type', j.trigger_type,
           'trigger_name', j.trigger_name, 'schedule_id', j.schedule_id, 'schedule', coalesce(s.name, ''),
           'created_at', utc_text(j.created_at), 'ended_at', j.final_counts ->> 'ended_at',
           'outcome', job_outcome(j.final_counts, j.target_count),
           'is_cancelled', j.cancel_requested_at is not null,
           'runs', jsonb_build_object('total', j.target_count) || (j.final_counts - 'ended_at'),
           'findings', f.counts || jsonb_build_object('not_tested', not_tested_counts(array[j.id])),
           'worst', f.worst,
           'unclean', case when j.cancel_requested_at is null then unclean_runs(j.id, null, 5) else '[]' end,
           'path', '/jobs/' || j.job_id)::text,
         w.workspace, '', j.workflow_name, not e.wanted, case when not e.wanted then now() end
  from jobs j
  left join schedules s on s.id = j.schedule_id
  cross join lateral (
    select case when min(workspace) = max(workspace) then min(workspace) else '' end as workspace
    from runs where job_no = j.id) w
  cross join lateral findings_of_job(j.id) f
  join (values ('job.ended', 'executor', 'job', event_is_wanted('job.ended')),
               ('schedule.ended', 'scheduler', 'schedule', event_is_wanted('schedule.ended')))
    e(topic, source, data_type, wanted) on e.topic = 'job.ended' or j.schedule_id <> ''
  where j.id = any(p_job_nos) and j.parent_run is null
    and not coalesce((select facts ? 'imported' from runs where job_no = j.id order by job_no, id limit 1), false)
  order by j.id, e.topic
$$;
