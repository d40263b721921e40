-- Marks a machine as lost that was not destroyed on request. Runs that are still on it move, also when the loss was
-- known before. Returns how many moved.
create or replace function lose_instance(p_instance_no bigint, p_message text) returns int
language plpgsql as $$
declare
  v_moved int;
begin
  perform set_instance(p_instance_no, 'destroying', jsonb_build_object('message', p_message));
  v_moved := move_runs_off_instances(array[p_instance_no], p_message);
  perform mark_infra_due(infra_no) from cloud_instances where id = p_instance_no;
  return v_moved;
end $$;
