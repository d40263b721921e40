-- Trigger: shortens the record of a finding, and keeps the stored form of texts that did not change. Without it
-- every sighting writes all of them again.
create or replace function store_finding_once() returns trigger
language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    if new.raw_vuln_json = old.raw_vuln_json then
      -- The record may be the old one although the request is new.
      new.raw_vuln_json := restore_raw(new.raw_vuln_json, old.detail_http_request, old.detail_http_response);
    end if;
    if new.vuln_desc = old.vuln_desc then new.vuln_desc := old.vuln_desc; end if;
    if new.vuln_poc = old.vuln_poc then new.vuln_poc := old.vuln_poc; end if;
    if new.detail_http_request = old.detail_http_request then
      new.detail_http_request := old.detail_http_request;
    end if;
    if new.detail_http_response = old.detail_http_response then
      new.detail_http_response := old.detail_http_response;
    end if;
  end if;
  -- Programs shorten it themselves; with markers it is short.
  if strpos(new.raw_vuln_json, chr(1)) = 0 then
    new.raw_vuln_json := shorten_raw(new.raw_vuln_json, new.detail_http_request, new.detail_http_response);
  end if;
  if tg_op = 'UPDATE' then
    if new.raw_vuln_json = old.raw_vuln_json then new.raw_vuln_json := old.raw_vuln_json; end if;
  end if;
  return new;
end $$;
