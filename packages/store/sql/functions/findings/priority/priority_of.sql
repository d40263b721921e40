-- The priority of a finding with its reasons.
create or replace function priority_of(p_severity text, p_scan_severity text, p_epss double precision,
  p_percentile double precision, p_kev boolean, p_due date, p_asset_type text, p_place text)
returns jsonb
language plpgsql immutable as $$
declare
  v_exposure text := exposure_of(p_asset_type, p_place);
  v_points int[] := priority_points(p_severity, p_epss, p_kev, v_exposure);
begin
  return jsonb_build_object('score', v_points[1] + v_points[2] + v_points[3] + v_points[4], 'why',
    jsonb_build_array(jsonb_build_object('factor', 'severity', 'points', v_points[1], 'text', p_severity
        || case when p_severity <> p_scan_severity then '; the scanner reported ' || p_scan_severity else '' end))
    || case when p_kev then jsonb_build_array(jsonb_build_object('factor', 'kev', 'points', v_points[2], 'text',
        'known to be exploited' || coalesce(', CISA wants it fixed by ' || to_char(p_due, 'YYYY-MM-DD'), ''))) else '[]' end
    || case when p_epss is not null then jsonb_build_array(jsonb_build_object('factor', 'epss', 'points', v_points[3], 'text',
        format('%s %% probability of exploitation within 30 days, at least that of %s %% of all CVEs',
               round(100 * p_epss::numeric, 2), round(100 * p_percentile::numeric, 1)))) else '[]' end
    || jsonb_build_array(jsonb_build_object('factor', 'exposure', 'points', v_points[4], 'text',
        case v_exposure when 'internet' then 'public address or name' when 'private' then 'private address or name'
          else 'not on a network' end)));
end $$;
