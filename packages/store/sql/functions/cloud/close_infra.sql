-- Deletes the keys of an ended infrastructure that has no machine left and no run waiting for it.
create or replace function close_infra(p_infra_no bigint) returns boolean
language plpgsql as $$
begin
  update cloud_infras f
  set closed_at = now(), destroyed_at = coalesce(destroyed_at, now()), private_key = '', owner = '', owner_until = null
  where id = p_infra_no and closed_at is null and status in ('destroyed', 'failed')
    and not exists (select from cloud_instances i
                    where i.infra_no = f.id and i.status not in ('destroyed', 'failed'))
    and not exists (select from jobs j where j.infra_no = f.id and exists (
          select from runs r
          where r.job_no = j.id and r.run_mode = 'cloud' and r.status in ('queued', 'running')));
  return found;
end $$;
