-- Splits batches among these queued runs, which a lost worker had, into up to eight: one that takes longer than its
-- workers live would never end. A job that another transaction changes is left as it is.
create or replace function split_batches(p_ids bigint[]) returns void
language plpgsql as $$
declare
  v_run runs;
  v_size int;
begin
  for v_run in select * from runs where id = any(p_ids) and batch[1] < batch[2] order by id loop
    v_size := ceil((v_run.batch[2] - v_run.batch[1] + 1) / 8.0);
    if add_batches(v_run.id, jsonb_build_array(jsonb_build_array(v_run.batch[1] + v_size, v_run.batch[2])), v_size) then
      update runs set batch = array[batch[1], batch[1] + v_size - 1] where id = v_run.id;
    end if;
  end loop;
end $$;
