-- Whether a rule matches what scans reported of a finding. Expressions without queries are fast in PL/pgSQL.
create or replace function rule_matches(r finding_rules, p_workspace text, p_info text, p_title text, p_asset text,
  p_source text, p_severity text, p_tags text[])
returns boolean
language plpgsql stable as $$
begin
  if p_severity <> all(r.severities) then
    return false;
  end if;
  if not fits_glob(p_workspace, r.workspace_glob) or not fits_glob(p_title, r.title_glob)
    or not fits_glob(case p_info when '' then p_title else p_info end, r.check_glob)
  then
    return false;
  end if;
  if r.network is not null then
    if (address_of(host_of(p_asset)) <<= r.network) is not true then
      return false;
    end if;
  elsif not fits_glob(p_asset, r.asset_glob) and not fits_glob(host_of(p_asset), r.asset_glob) then
    return false;
  end if;
  return r.tool_glob is null or fits_glob(p_source, r.tool_glob)
    or exists (select from unnest(p_tags) t(tag) where fits_glob(t.tag, r.tool_glob));
end $$;
