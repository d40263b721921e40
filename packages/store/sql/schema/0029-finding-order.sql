-- requires: severity_rank
-- Findings in the order of their severity, and the assets of an address.

create index vulnerabilities_order on vulnerabilities (severity_rank(severity), (-id), state, workspace);
create index assets_host_ip on assets (host_ip, id) where host_ip <> '';
