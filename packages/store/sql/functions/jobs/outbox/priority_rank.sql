-- The rank of a priority. A lower rank starts first. It is never 0: the queue would put a message without a rank
-- before all others.
create or replace function priority_rank(p_priority text) returns smallint
language sql immutable parallel safe as $$
  select case p_priority when 'critical' then 1 when 'high' then 2 when 'normal' then 3 else 4 end::smallint
$$;
