-- The statuses from which a run may move to p_to. A test compares them with RUN_MOVES in contracts.
create or replace function run_sources(p_to text) returns text[]
language sql immutable parallel safe as $$
  select case p_to
    when 'queued' then array['pending', 'running']
    when 'running' then array['queued']
    when 'completed' then array['queued', 'running']
    when 'failed' then array['queued', 'running']
    when 'cancelled' then array['pending', 'queued', 'running']
    else array[]::text[]
  end
$$;
