-- requires: index_substrings
-- Filters of findings and assets: by text, by tag, and by what is new.

-- Partial matches of titles, identifiers and assets use one index, vulnerabilities_text.
drop index if exists vulnerabilities_asset;
select index_substrings();

create index vulnerabilities_tags on vulnerabilities using gin (tags);
create index vulnerabilities_opened on vulnerabilities (opened_at);
create index assets_opened on assets (opened_at);
