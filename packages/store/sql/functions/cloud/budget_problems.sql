-- Why p_budget does not allow the infrastructure p_infra, with the figures; null: it does. Counts every machine that
-- may still exist, with all the hours that it may live.
create or replace function budget_problems(p_infra cloud_infras, p_budget jsonb) returns text
language plpgsql as $$
declare
  v_hours numeric := p_infra.instances * p_infra.hours;
  v_cost numeric := p_infra.instances * p_infra.hours * p_infra.hourly_price;
  v_machines int;
  v_all_hours numeric;
  v_all_cost numeric;
  v_problems text[] := '{}';
begin
  select count(*), coalesce(sum(f.hours), 0), coalesce(sum(f.hours * coalesce(f.hourly_price, 0)), 0)
  into v_machines, v_all_hours, v_all_cost
  from cloud_instances i join cloud_infras f on f.id = i.infra_no
  where i.status not in ('destroyed', 'failed');

  if p_infra.instances > (p_budget ->> 'instances')::int then
    v_problems := v_problems || format('%s machines were asked for, %s is the most for one infrastructure',
      p_infra.instances, p_budget ->> 'instances');
  end if;
  if v_machines + p_infra.instances > (p_budget ->> 'totalInstances')::int then
    v_problems := v_problems || format('%s machines were asked for beside the %s that there are, %s is the most in all',
      p_infra.instances, v_machines, p_budget ->> 'totalInstances');
  end if;
  if p_infra.hours > (p_budget ->> 'hours')::numeric then
    v_problems := v_problems || format('%s hours were asked for, %s is the most for one infrastructure',
      trim_scale(p_infra.hours), trim_scale((p_budget ->> 'hours')::numeric));
  end if;
  if v_all_hours + v_hours > (p_budget ->> 'totalInstanceHours')::numeric then
    v_problems := v_problems || format(
      '%s machine hours were asked for beside the %s that are given away, %s is the most in all',
      trim_scale(v_hours), trim_scale(v_all_hours), trim_scale((p_budget ->> 'totalInstanceHours')::numeric));
  end if;
  if v_cost is null and coalesce(p_budget ->> 'cost', p_budget ->> 'totalCost') is not null then
    v_problems := v_problems || format(
      'costs are limited and the price of %s at %s in %s is not known: set it in the settings of the provider',
      p_infra.instance_type, p_infra.provider, p_infra.region);
  end if;
  if v_cost > (p_budget ->> 'cost')::numeric then
    v_problems := v_problems || format(
      'the estimated cost is %s US dollars (%s machines, %s hours, %s an hour), %s is the most for one infrastructure',
      round(v_cost, 2), p_infra.instances, trim_scale(p_infra.hours), trim_scale(p_infra.hourly_price),
      round((p_budget ->> 'cost')::numeric, 2));
  end if;
  if v_all_cost + v_cost > (p_budget ->> 'totalCost')::numeric then
    v_problems := v_problems || format(
      'the estimated cost is %s US dollars beside the %s of the machines that there are, %s is the most in all',
      round(v_cost, 2), round(v_all_cost, 2), round((p_budget ->> 'totalCost')::numeric, 2));
  end if;
  return nullif(array_to_string(v_problems, '; '), '');
end $$;
