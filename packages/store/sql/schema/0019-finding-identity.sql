-- What tells the findings of one check at one place apart, and what a scan could not look at.

-- What the tool says: a matcher, a commit, a column, the text of a line. Part of the identity.
alter table vulnerabilities add column fingerprint text not null default '';
-- The results of the last import that were equal to this record.
alter table vulnerabilities add column occurrences int not null default 1;
-- The last import, and the part of it that saw the record first: results of later parts are merged into it.
alter table vulnerabilities add column last_import uuid;
alter table vulnerabilities add column import_part int;

-- Whether the record had been saved by an earlier part of the same import.
alter type saved_record add attribute merged boolean;

-- Also the hosts and files that a scan could not look at: their records stay open.
alter table reached_hosts add column failed boolean not null default false;
