-- Creates the trigram indexes for partial matches, with the extension pg_trgm in a schema of its own. False: the
-- extension is not available, and partial matches read the whole table; docs/findings.md says how to add it later.
create or replace function index_substrings() returns boolean
language plpgsql as $$
declare
  v_schema text;
begin
  begin
    if not exists (select from pg_extension where extname = 'pg_trgm') then
      create schema if not exists trigrams;
      create extension pg_trgm schema trigrams;
    end if;
  exception
    when insufficient_privilege or undefined_file or feature_not_supported then
      raise notice 'pg_trgm is not available: partial matches will be slow';
      return false;
  end;
  select n.nspname into v_schema
  from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'pg_trgm';
  execute format(
    'create index if not exists vulnerabilities_text on vulnerabilities using gin ((vuln_title || '' '' || vuln_info || '' '' || asset_value) %I.gin_trgm_ops)',
    v_schema);
  execute format(
    'create index if not exists assets_text on assets using gin ((asset_value || '' '' || url || '' '' || title) %I.gin_trgm_ops)',
    v_schema);
  return true;
end $$;
