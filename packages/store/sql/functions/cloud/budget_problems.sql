-- Why p_budget refuses the infrastructure p_infra, with the figures; null: it does not. Counts every machine that may
-- still exist, with all hours until it expires.
create or replace function budget_problems(p_infra cloud_infras, p_budget jsonb) returns text
language plpgsql as $$
declare
  v_hours numeric := p_infra.instances * p_infra.hours;
  v_cost numeric := p_infra.instances * p_infra.hours * p_infra.hourly_price;
  v_machines int;
  v_all_hours numeric;
  v_all_cost numeric;
  v_asked text := p_infra.instances || case p_infra.instances when 1 then ' machine was' else ' machines were' end;
  v_problems text[] := '{}';
begin
  select count(*), coalesce(sum(f.hours), 0), coalesce(sum(f.hours * coalesce(f.hourly_price, 0)), 0)
  into v_machines, v_all_hours, v_all_cost
  from cloud_instances i join cloud_infras f on f.id = i.infra_no
  where i.status not in ('destroyed', 'failed');

  if p_infra.instances > (p_budget ->> 'instances')::int then
    v_problems := v_problems || format('%s requested, the limit for one infrastructure is %s',
      v_asked, p_budget ->> 'instances');
  end if;
  if v_machines + p_infra.instances > (p_budget ->> 'totalInstances')::int then
    v_problems := v_problems || format('%s requested and %s, the limit for all is %s',
      v_asked, v_machines || case v_machines when 1 then ' exists' else ' exist' end, p_budget ->> 'totalInstances');
  end if;
  if p_infra.hours > (p_budget ->> 'hours')::numeric then
    v_problems := v_problems || format('%s requested, the limit for one infrastructure is %s',
      trim_scale(p_infra.hours) || case p_infra.hours when 1 then ' hour was' else ' hours were' end,
      trim_scale((p_budget ->> 'hours')::numeric));
  end if;
  if v_all_hours + v_hours > (p_budget ->> 'totalInstanceHours')::numeric then
    v_problems := v_problems || format(
      '%s machine hours were requested and %s are in use, the limit for all is %s',
      trim_scale(v_hours), trim_scale(v_all_hours), trim_scale((p_budget ->> 'totalInstanceHours')::numeric));
  end if;
  if v_cost is null and coalesce(p_budget ->> 'cost', p_budget ->> 'totalCost') is not null then
    v_problems := v_problems || format(
      'costs are limited and the price of %s at %s in %s is not known: set it in the settings of the provider',
      p_infra.instance_type, p_infra.provider, p_infra.region);
  end if;
  if v_cost > (p_budget ->> 'cost')::numeric then
    v_problems := v_problems || format(
      'the estimated cost is %s US dollars (%s, %s, %s an hour), the limit for one infrastructure is %s',
      round(v_cost, 2), p_infra.instances || case p_infra.instances when 1 then ' machine' else ' machines' end,
      trim_scale(p_infra.hours) || case p_infra.hours when 1 then ' hour' else ' hours' end,
      trim_scale(p_infra.hourly_price),
      round((p_budget ->> 'cost')::numeric, 2));
  end if;
  if v_all_cost + v_cost > (p_budget ->> 'totalCost')::numeric then
    v_problems := v_problems || format(
      'the estimated cost is %s US dollars and existing machines cost %s, the limit for all is %s',
      round(v_cost, 2), round(v_all_cost, 2), round((p_budget ->> 'totalCost')::numeric, 2));
  end if;
  return nullif(array_to_string(v_problems, '; '), '');
end $$;
