-- The first limit of each of these runs that has no share left beside the others, for people. Runs without a row may start.
create or replace function limit_problems(p_ids bigint[]) returns table (run_id bigint, problem text)
language sql stable as $$
  select distinct on (w.run_id) w.run_id,
    format('limit of %s: %s', w.label,
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
        and u.until > now() and u.run_id <> w.run_id
      group by u.run_id
    ) u
  ) used
  where w.run_id = any(p_ids)
    and (used.runs >= l.runs or used.rate + coalesce(w.rate, rate_share(w.run_id)) > l.rate)
  order by w.run_id, w.scope_no, w.kind, w.lo
$$;
