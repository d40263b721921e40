-- requires: store_finding_once, derive_finding
-- Imports insert findings in the form in which they are stored: the triggers are for all others.

drop trigger finding_stored_once on vulnerabilities;
create trigger finding_stored_once
  before update of vuln_desc, vuln_poc, detail_http_request, detail_http_response, raw_vuln_json
  on vulnerabilities
  for each row execute function store_finding_once();
create trigger finding_shortened before insert on vulnerabilities
  for each row when (strpos(new.raw_vuln_json, chr(1)) = 0) execute function store_finding_once();

drop trigger finding_derived on vulnerabilities;
create trigger finding_derived
  before update of seen, seen_reason, scan_severity, scan_tags, decision, ruled, back_at, source, vuln_info,
    vuln_title, asset_value
  on vulnerabilities
  for each row execute function derive_finding();
create trigger finding_added before insert on vulnerabilities
  for each row when (new.seen is null) execute function derive_finding();
