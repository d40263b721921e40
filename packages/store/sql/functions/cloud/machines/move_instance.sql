-- Moves a machine to another status and returns whether it moved. Runs leave a machine that ends.
create or replace function move_instance(p_instance_no bigint, p_to text, p_facts jsonb) returns boolean
language plpgsql as $$
declare
  v_before cloud_instances := set_instance(p_instance_no, p_to, p_facts);
begin
  if v_before.status = 'ready' then
    perform move_runs_off_instances(array[p_instance_no], p_facts ->> 'message');
  end if;
  if p_to in ('destroyed', 'failed') then
    perform close_infra(v_before.infra_no);
  end if;
  return v_before.id is not null;
end $$;
