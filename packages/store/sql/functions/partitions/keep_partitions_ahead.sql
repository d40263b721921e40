-- Makes the missing ranges, from the one in use to p_ahead ranges beyond it. Returns how many it made.
create or replace function keep_partitions_ahead(p_table text, p_key text, p_sequence text, p_size bigint, p_ahead int)
returns int
language plpgsql as $$
declare
  v_last bigint;
  v_made int := 0;
  v_from bigint;
begin
  execute format('select last_value from %I', p_sequence) into v_last;
  for v_from in
    select n * p_size from generate_series(v_last / p_size, v_last / p_size + p_ahead) n
  loop
    if to_regclass(format('%I', p_table || '_' || v_from)) is null then
      perform add_partition(p_table, p_key, v_from, v_from + p_size);
      v_made := v_made + 1;
    end if;
  end loop;
  return v_made;
end $$;
