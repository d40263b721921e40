-- What to look at first, from 0 to 100; see docs/findings.md. priority_of has the reasons.
create or replace function priority_score(p_severity text, p_epss double precision, p_kev boolean, p_asset_type text,
  p_place text)
returns int
language plpgsql immutable as $$
declare
  v_points int[] := priority_points(p_severity, p_epss, p_kev, exposure_of(p_asset_type, p_place));
begin
  return v_points[1] + v_points[2] + v_points[3] + v_points[4];
end $$;
