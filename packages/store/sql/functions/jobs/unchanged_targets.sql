-- The targets of which nothing changed since their last run, with that run: it had the same workflow with the same params
-- in the same workspace, ended after p_since, and did all of its work. An asset changes with its addresses, ports,
-- technologies, remarks (of certificates too), title, type, status and hash of the page, when it comes and when it is
-- gone. Assets of a host are those of it, at its address and of the names below it; a network and what is no host have
-- all of the workspace. What a path or a repository has is not known, so these always run.
create or replace function unchanged_targets(p_workflow text, p_hash text, p_params jsonb, p_targets text[],
                                             p_workspaces text[], p_since timestamptz)
returns table (no int, run_uuid uuid, completed_at timestamptz)
language sql stable as $$
  with scanned as materialized (
    select a.no::int, a.workspace, r.run_uuid, r.completed_at,
           case when a.target !~* '^[0-9a-f.:]+/[0-9]+$'
                 and h.host ~ '^([a-z0-9_-]+[.])+[a-z][a-z0-9-]*$|^[0-9]+([.][0-9]+){3}$|^[0-9a-f]*:[0-9a-f.:]*$'
                then h.host else '*' end as key
    from unnest(p_targets, p_workspaces) with ordinality a(target, workspace, no)
    cross join lateral (select host_of(a.target) as host) h
    cross join lateral (
      select r.run_uuid, r.outcome, r.completed_at from runs r join jobs j on j.id = r.job_no
      where r.target = a.target and r.workspace = a.workspace and r.workflow_name = p_workflow
        and r.batch is null
        and r.status in ('completed', 'failed', 'cancelled') and j.workflow_hash = p_hash and j.params = p_params
      order by r.target, r.id desc limit 1
    ) r
    where r.outcome = 'clean' and r.completed_at >= p_since
      and (a.target !~ '/' or a.target ~* '^[0-9a-f.:]+/[0-9]+$|^[a-z]+://')
      and a.target !~* '^https?://(www[.])?(github|gitlab|bitbucket)[.]'
  ), changed as materialized (
    select a.workspace, keys.key, max(a.updated_at) as at
    from assets a
    cross join lateral (select string_to_array(host_of(coalesce(nullif(a.url, ''), a.asset_value)), '.') as parts) h
    cross join lateral (
      select array_to_string(h.parts[i:], '.') as key from generate_subscripts(h.parts, 1) i
      union select a.host_ip union select '*'
    ) keys
    where a.workspace in (select s.workspace from scanned s)
      and a.updated_at > (select min(s.completed_at) from scanned s)
    group by a.workspace, keys.key
  )
  select s.no, s.run_uuid, s.completed_at from scanned s
  left join changed c on c.workspace = s.workspace and c.key = s.key
  where c.at is null or c.at <= s.completed_at
  order by s.no
$$;
