-- The points of severity, known exploitation, probability of exploitation, and exposure: the table in docs/findings.md.
create or replace function priority_points(p_severity text, p_epss double precision, p_kev boolean, p_exposure text)
returns int[]
language plpgsql immutable as $$
begin
  return array[
    10 * (5 - public.severity_rank(p_severity)),
    case when p_kev then 30 else 0 end,
    case when p_epss >= 0.5 then 20 when p_epss >= 0.1 then 10 when p_epss >= 0.01 then 5 else 0 end,
    case p_exposure when 'internet' then 10 else 0 end];
end $$;
