-- Locks an infrastructure as one that accepts runs, to the end of the transaction. With p_auto_destroy it is
-- destroyed after the last of them. Refuses with SQLSTATE SF003 if it accepts none.
create or replace function require_infra(p_infra_no bigint, p_auto_destroy boolean) returns void
language plpgsql as $$
declare
  v_infra cloud_infras;
begin
  if p_auto_destroy then
    select * into v_infra from cloud_infras where id = p_infra_no for no key update;
  else
    select * into v_infra from cloud_infras where id = p_infra_no for share;
  end if;
  if v_infra.status not in ('requested', 'provisioning', 'ready') then
    raise exception using errcode = 'SF003',
      message = format('the infrastructure %s is %s and takes no more runs', v_infra.infra_id, v_infra.status);
  end if;
  if p_auto_destroy then
    update cloud_infras set auto_destroy = true where id = p_infra_no and not auto_destroy;
  end if;
end $$;
