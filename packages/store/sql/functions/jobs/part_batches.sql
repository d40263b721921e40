-- Notes which items these batches have executed when their workers stop, and gives the rest to further runs of their
-- loops. p_ends is as in worker.finish.
create or replace function part_batches(p_ids bigint[], p_ends jsonb) returns void
language plpgsql as $$
declare
  v_end record;
begin
  for v_end in
    select r.id, e.part
    from jsonb_to_recordset(p_ends) as e("runId" bigint, status text, part jsonb) join runs r on r.id = e."runId"
    where r.id = any(p_ids) and e.status = 'completed' and e.part is not null and r.cancel_requested_at is null
    order by r.id
  loop
    if not add_batches(v_end.id, v_end.part -> 'rest', null) then
      raise exception 'the job of a batch changes' using errcode = 'serialization_failure';
    end if;
    update runs set batch = array[(v_end.part ->> 'first')::int, (v_end.part ->> 'last')::int] where id = v_end.id;
  end loop;
end $$;
