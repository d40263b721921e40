-- The statuses from which a machine may move to p_to. A test compares them with INSTANCE_MOVES in contracts.
create or replace function instance_sources(p_to text) returns text[]
language sql immutable parallel safe as $$
  select case p_to
    when 'booting' then array['requested']
    when 'ready' then array['booting']
    when 'destroying' then array['requested', 'booting', 'ready']
    when 'destroyed' then array['destroying']
    when 'failed' then array['requested', 'destroying']
    else array[]::text[]
  end
$$;
