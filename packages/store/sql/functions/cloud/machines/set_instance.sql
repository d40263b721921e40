-- Moves a machine to another status and returns the row as it was before; null: it may not move there. p_facts is
-- {message, resource_id, address, port}, each if known.
create or replace function set_instance(p_instance_no bigint, p_to text, p_facts jsonb) returns cloud_instances
language plpgsql as $$
declare
  v_instance cloud_instances;
begin
  select * into v_instance from cloud_instances where id = p_instance_no for no key update;
  if not found or v_instance.status <> all(instance_sources(p_to)) then
    return null;
  end if;
  update cloud_instances
  set status = p_to,
      message = coalesce(p_facts ->> 'message', message),
      resource_id = coalesce(p_facts ->> 'resource_id', resource_id),
      address = coalesce(p_facts ->> 'address', address),
      port = coalesce((p_facts ->> 'port')::int, port),
      host_key_private = case when p_to in ('booting', 'destroying') then host_key_private else '' end,
      ready_at = case p_to when 'ready' then now() else ready_at end,
      destroyed_at = case when p_to in ('destroyed', 'failed') then now() else destroyed_at end
  where id = p_instance_no;
  return v_instance;
end $$;
