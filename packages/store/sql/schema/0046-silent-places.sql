-- What did not answer a scan at all: a host, or ports of it. Its findings are unreachable.
alter table reached_hosts add column silent boolean not null default false;
-- Null: the host, or the port that `host` names. Otherwise `host` ends with :* or :*/udp.
alter table reached_hosts add column ports int4multirange;
alter type untested_place add attribute silent boolean, add attribute ports int4multirange;
