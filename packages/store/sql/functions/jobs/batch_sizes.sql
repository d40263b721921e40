-- The first and the last item of each batch of a loop, counted from 0. Without p_size, batches start large and end small,
-- so that neither a slow worker nor a late batch holds back the end much. p_open: further items that wait for a worker.
create or replace function batch_sizes(p_count int, p_size int, p_workers int, p_open int)
returns table (first int, last int)
language plpgsql immutable as $$
declare
  v_first int := 0;
  -- A worker that is ten times slower than the others must not get more than it can do meanwhile.
  v_parts constant int := 8;
  v_most_batches constant int := 2000;
begin
  while v_first < p_count loop
    first := v_first;
    last := least(p_count, v_first + greatest(1, ceil(p_count::float8 / v_most_batches)::int,
      coalesce(p_size, ceil((p_open + p_count - v_first)::float8 / (v_parts * p_workers))::int))) - 1;
    return next;
    v_first := last + 1;
  end loop;
end $$;
