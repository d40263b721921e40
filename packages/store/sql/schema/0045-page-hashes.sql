-- The last hash of its page that a tool took (page_hash): what other tools write of the asset does not name one.
alter table assets add column page_hash text;
