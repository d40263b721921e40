-- Who can reach the place of a finding: internet, private (an address or a name that only exists inside of networks), or
-- none (a file or a package).
create or replace function exposure_of(p_asset_type text, p_place text) returns text
language plpgsql immutable as $$
declare
  v_host text;
  v_rest text;
  v_address inet;
begin
  if p_asset_type in ('file', 'package') or p_place = '' then
    return 'none';
  end if;
  v_host := public.host_of(p_place);
  -- Few places are addresses, and address_of has to catch errors, which is expensive.
  v_rest := translate(v_host, '0123456789abcdef', '');
  if v_rest <> '' and rtrim(v_rest, '.:') = '' then
    v_address := public.address_of(v_host);
  end if;
  if v_address is null then
    return case when strpos(v_host, '.') = 0 or split_part(case when right(v_host, 1) = '.' then left(v_host, -1) else v_host end, '.', -1)
        = any(array['localhost', 'local', 'localdomain', 'internal', 'intranet', 'lan', 'home', 'corp', 'private', 'test',
                    'example', 'invalid', 'arpa'])
      then 'private' else 'internet' end;
  end if;
  return case when v_address <<= any(array['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16',
      '172.16.0.0/12', '192.168.0.0/16', '::/127', 'fc00::/7', 'fe80::/10']::inet[])
    then 'private' else 'internet' end;
end $$;
