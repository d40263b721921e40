-- The workspaces among p_names whose folders on a machine may be removed. Either retention has removed their last
-- run, or the folder is old (p_old) and the workspace has no run that is open or ended within the last p_days.
create or replace function worker.removable_workspaces(p_secret text, p_names text[], p_old boolean[], p_days int) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp
-- planner: lookup
as $$
begin
  perform demand_worker(p_secret);
  return (
    select coalesce(jsonb_agg(w.name), '[]')
    from unnest(p_names, p_old) as w(name, is_old)
    where case
      when exists (select from runs r where r.workspace = w.name) then
        w.is_old and not exists (
          select from runs r
          where r.workspace = w.name
            and (r.completed_at is null or r.completed_at >= now() - p_days * interval '1 day'))
      else w.is_old or exists (select from pruned_workspaces p where p.workspace = w.name)
    end);
end $$;
