-- Makes one range of a partitioned table. The range is attached instead of created in place: that needs no exclusive
-- lock on the parent, so writers are not blocked. Rows of the default partition that belong to the range move along,
-- so that an insert never fails for want of a partition.
create or replace function add_partition(p_table text, p_key text, p_from bigint, p_to bigint) returns void
language plpgsql as $$
declare
  v_name text := format('%s_%s', p_table, p_from);
begin
  execute format('create table %I (like %I including defaults including constraints)', v_name, p_table);
  execute format('lock table %I in access exclusive mode', p_table || '_rest');
  execute format(
    'with moved as (delete from %I where %I >= %s and %I < %s returning *) insert into %I overriding system value select * from moved',
    p_table || '_rest', p_key, p_from, p_key, p_to, v_name);
  execute format('alter table %I attach partition %I for values from (%s) to (%s)', p_table, v_name, p_from, p_to);
end $$;
