-- Releases an infrastructure, which is due again after p_after_ms, or at once if it changed meanwhile.
create or replace function release_infra(p_infra_no bigint, p_owner text, p_after_ms int) returns void
language plpgsql as $$
begin
  update cloud_infras
  set owner = '', owner_until = null,
      due_at = case when recheck then now() else now() + p_after_ms * interval '1 ms' end
  where id = p_infra_no and owner = p_owner;
  -- The masters that were notified of the change found it leased.
  perform notify_masters() from cloud_infras where id = p_infra_no and recheck;
end $$;
