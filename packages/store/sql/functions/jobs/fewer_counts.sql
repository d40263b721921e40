-- The final counts of a job without some of its runs; both are objects with the same numbers.
create or replace function fewer_counts(p_counts jsonb, p_removed jsonb) returns jsonb
language sql immutable parallel safe as $$
  select p_counts || (
    select jsonb_object_agg(key, greatest(0, coalesce((p_counts ->> key)::int, 0) - value::int))
    from jsonb_each_text(p_removed))
$$;
