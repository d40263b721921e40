-- The limit of a scope (0: of the farm) on one kind of hosts, and the part of its rate that a run gets. No row: there is
-- none.
create or replace function limit_of(p_scope_no bigint, p_kind text)
returns table (rate int, runs int, share int)
language sql stable as $$
  select (l ->> 'rate')::int, n, (l ->> 'rate')::int / n
  from (select limits -> p_kind as l from farm_limits where p_scope_no = 0
        union all
        select limits -> p_kind from scan_scopes where id = p_scope_no) limits
  cross join lateral (select coalesce((l ->> 'runs')::int, 1) as n) shares
  where jsonb_typeof(l) = 'object'
$$;
