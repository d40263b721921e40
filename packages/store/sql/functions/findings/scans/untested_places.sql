-- What a scan did not test: by its own imports, and by those of p_modules that its module depends on (null: all).
create or replace function untested_places(p_scan scans, p_kind text, p_modules text[]) returns untested_place[]
language sql stable as $$
  select coalesce(array_agg((h.host, h.check_id, coalesce(nullif(h.reason, ''), 'it could not be checked'),
                             h.silent, h.ports)::untested_place
                            order by h.scope_id = p_scan.scope_id desc), '{}')
  from reached_hosts h join scopes c on c.id = h.scope_id
  where h.failed and (h.run_id, h.attempt) = (p_scan.run_id, p_scan.attempt)
    and (h.scope_id = p_scan.scope_id and h.kind = p_scan.kind
         or h.check_id = '' and (p_modules is null or module_of(p_kind, c.step) = any(p_modules))
            and module_of(p_kind, c.step) <> module_of(p_kind, (select step from scopes where id = p_scan.scope_id)))
$$;
