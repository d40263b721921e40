-- Why a run has to wait for others, for people: a run of the same workflow on its target works, or a limit has no share
-- left. Null: it may start.
create or replace function limit_problem(p_run_id bigint) returns text
language sql stable as $$
  select coalesce(twin_problem(p_run_id), (select format('limit of %s: %s', w.label,
                case when used.runs >= l.runs then format('%s of %s %s', used.runs, l.runs,
                       case l.runs when 1 then 'run' else 'runs' end)
                     else format('%s of %s a second are used', used.rate, l.rate) end)
  from limit_uses w
  cross join lateral limit_of(w.scope_no, w.kind) l
  cross join lateral (
    select count(*) as runs, coalesce(sum(u.rate), 0) as rate
    from (
      select u.run_id, max(u.rate) as rate from limit_uses u
      where u.scope_no = w.scope_no and u.kind = w.kind and u.lo <= w.hi and u.hi >= w.lo
        and u.until > now() and u.run_id <> p_run_id
      group by u.run_id
    ) u
  ) used
  where w.run_id = p_run_id and (used.runs >= l.runs or used.rate + rate_share(p_run_id) > l.rate)
  order by w.scope_no, w.kind, w.lo limit 1))
$$;
