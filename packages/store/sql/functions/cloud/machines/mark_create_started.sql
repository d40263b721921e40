-- Records that the provider is about to be asked to create a machine. False: the machine is not wanted any more, or
-- p_owner does not own its infrastructure.
create or replace function mark_create_started(p_instance_no bigint, p_owner text) returns boolean
language plpgsql as $$
begin
  update cloud_instances i set create_started_at = clock_timestamp()
  from cloud_infras f
  where i.id = p_instance_no and f.id = i.infra_no and i.status = 'requested' and f.status = 'provisioning'
    and f.owner = p_owner and f.owner_until > clock_timestamp();
  return found;
end $$;
