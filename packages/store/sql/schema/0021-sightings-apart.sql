-- What changes with each sighting of a record is apart from its texts, so that a sighting does not write the texts again.

-- How a finding was seen last.
create table finding_sightings (
  finding_id bigint primary key, -- refers to vulnerabilities
  -- The item of the last import, with its workspace and source: the same item changes nothing. Null: not known, or the
  -- record changed since.
  content_hash bytea,
  last_seen timestamptz not null,
  times_seen int not null,
  last_run bigint, -- refers to runs
  -- The results of the last import that were equal to this record.
  occurrences int not null,
  -- The last import, and the part of it that saw the record first: results of later parts are merged into it.
  last_import uuid,
  import_part int
) with (fillfactor = 50);
insert into finding_sightings (finding_id, last_seen, times_seen, last_run, occurrences, last_import, import_part)
select id, last_seen, times_seen, last_run, occurrences, last_import, import_part from vulnerabilities order by id;
create index finding_sightings_content on finding_sightings (content_hash) where content_hash is not null;
alter table vulnerabilities drop column last_seen, drop column times_seen, drop column last_run,
  drop column occurrences, drop column last_import, drop column import_part;

-- How an asset was seen last; the columns are those of findings.
create table asset_sightings (
  asset_id bigint primary key, -- refers to assets
  content_hash bytea,
  last_seen timestamptz not null,
  times_seen int not null,
  last_run bigint -- refers to runs
) with (fillfactor = 50);
insert into asset_sightings (asset_id, last_seen, times_seen, last_run)
select id, last_seen, times_seen, last_run from assets order by id;
create index asset_sightings_content on asset_sightings (content_hash) where content_hash is not null;
alter table assets drop column last_seen, drop column times_seen, drop column last_run;
