-- What to look at first, from 0 to 100; see docs/findings.md. priority_of has the reasons. An index uses it: Postgres builds
-- indexes without a search path, so names in it, and in what it calls, have a schema.
create or replace function priority_score(p_severity text, p_epss double precision, p_kev boolean, p_asset_type text,
  p_place text)
returns int
language plpgsql immutable as $$
declare
  v_points int[] := public.priority_points(p_severity, p_epss, p_kev, public.exposure_of(p_asset_type, p_place));
begin
  return v_points[1] + v_points[2] + v_points[3] + v_points[4];
end $$;
