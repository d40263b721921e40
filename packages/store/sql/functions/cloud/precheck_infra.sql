-- Refuses early what resolve_infra would refuse now. It takes no lock; resolve_infra decides.
create or replace function precheck_infra(p_cloud jsonb) returns void
language plpgsql as $$
declare
  v_problems text;
begin
  if p_cloud ->> 'reuse' is not null then
    return;
  end if;
  v_problems := budget_problems(jsonb_populate_record(null::cloud_infras, p_cloud -> 'infra'), p_cloud -> 'budget');
  if v_problems is not null then
    raise exception using errcode = 'SF001', message = v_problems;
  end if;
end $$;
