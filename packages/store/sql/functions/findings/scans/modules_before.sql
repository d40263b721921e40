-- A module of a run's flow and all modules that it depends on. Null: they are not known.
create or replace function modules_before(p_run runs, p_module text) returns text[]
language plpgsql stable as $$
begin
  return (
    with recursive needs as (
      select m ->> 'name' as module, d.name as needed
      from jobs j join pinned_workflows w on w.hash = j.workflow_hash
        cross join lateral json_array_elements(coalesce(w.json::json #> '{root,modules}', '[]')) m
        cross join lateral json_array_elements_text(coalesce(m -> 'depends_on', '[]')) d(name)
      where j.id = p_run.job_no
    ), before (module) as (
      select p_module union select n.needed from needs n join before b on b.module = n.module
    )
    select array_agg(module) from before);
exception when data_exception then
  return null;
end $$;
