-- Calls assign_runs for the runs that once_at_a_time lets start, and deletes their outbox rows. A run that makes
-- assign_runs fail is deferred, and the others are assigned.
create or replace function try_assign_runs(p_worker_id text, p_ids bigint[]) returns json
language plpgsql as $$
declare
  v_id bigint;
  v_one json;
  v_assigned json[] := '{}';
begin
  p_ids := once_at_a_time(p_ids);
  if cardinality(p_ids) = 0 then
    return '[]';
  end if;
  begin
    delete from outbox where run_id = any(p_ids);
    return assign_runs(p_worker_id, p_ids);
  exception when others then
    if not is_run_error(sqlstate) then
      raise;
    end if;
  end;
  foreach v_id in array p_ids loop
    begin
      delete from outbox where run_id = v_id;
      v_one := assign_runs(p_worker_id, array[v_id]);
      if json_array_length(v_one) > 0 then
        v_assigned := v_assigned || (v_one -> 0);
      end if;
    exception when others then
      if not is_run_error(sqlstate) then
        raise;
      end if;
      perform defer_run(v_id, sqlerrm);
    end;
  end loop;
  return array_to_json(v_assigned);
end $$;
