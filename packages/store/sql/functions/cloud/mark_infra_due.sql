-- Marks an infrastructure as due. If it is leased, its owner re-checks it on release.
create or replace function mark_infra_due(p_infra_no bigint) returns void
language plpgsql as $$
begin
  update cloud_infras set recheck = true, due_at = least(due_at, now())
  where id = p_infra_no and closed_at is null and not (recheck and due_at <= now());
  if found then
    perform notify_masters();
  end if;
end $$;
