-- Moves an infrastructure to another status and returns whether it moved. p_ends_as is the status with which its
-- runs end when it accepts no more. With p_when_done it moves only if no run of its jobs can run any more: a job
-- that has just joined keeps it.
create or replace function move_infra(p_infra_no bigint, p_to text, p_message text, p_ends_as text, p_when_done boolean)
returns boolean
language plpgsql as $$
declare
  v_infra cloud_infras;
begin
  select * into v_infra from cloud_infras where id = p_infra_no for no key update;
  if not found or v_infra.status <> all(infra_sources(p_to)) or (p_when_done and not infra_work_done(p_infra_no))
     or (p_to = 'destroyed' and exists (select from cloud_instances
                                        where infra_no = p_infra_no and status not in ('destroyed', 'failed')))
  then
    return false;
  end if;
  update cloud_infras
  set status = p_to, message = p_message, recheck = true, due_at = least(due_at, now()),
      ready_at = case p_to when 'ready' then now() else ready_at end,
      destroyed_at = case p_to when 'destroyed' then now() else destroyed_at end,
      ends_runs_as = case when p_to in ('draining', 'failed') then coalesce(ends_runs_as, p_ends_as) else ends_runs_as end,
      end_reason = case when p_to in ('draining', 'failed') and ends_runs_as is null then p_message else end_reason end
  where id = p_infra_no;
  perform close_infra(p_infra_no);
  perform notify_masters();
  return true;
end $$;
