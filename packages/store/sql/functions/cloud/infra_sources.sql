-- The statuses from which an infrastructure may move to p_to. A test compares them with INFRA_MOVES in contracts.
create or replace function infra_sources(p_to text) returns text[]
language sql immutable parallel safe as $$
  select case p_to
    when 'provisioning' then array['requested']
    when 'ready' then array['provisioning']
    when 'draining' then array['requested', 'provisioning', 'ready']
    when 'destroyed' then array['draining']
    when 'failed' then array['requested', 'provisioning', 'ready']
    else array[]::text[]
  end
$$;
