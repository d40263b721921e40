-- The module of a flow that has the step of a scope; '': the workflow is a module.
create or replace function module_of(p_kind text, p_step text) returns text
language sql immutable as $$
  select case when p_kind = 'flow' and strpos(p_step, '/') > 0 then split_part(p_step, '/', 1) else '' end
$$;
