-- Creates an infrastructure and its machines if p_budget allows them. One request at a time in the whole farm.
-- Refuses with SQLSTATE SF001.
create or replace function create_infra(p_infra jsonb, p_budget jsonb) returns bigint
language plpgsql as $$
declare
  v_infra cloud_infras := jsonb_populate_record(null::cloud_infras, p_infra);
  v_problems text;
  v_no bigint;
begin
  perform acquire_lock('cloud budget');
  v_problems := budget_problems(v_infra, p_budget);
  if v_problems is not null then
    raise exception using errcode = 'SF001', message = v_problems;
  end if;
  insert into cloud_infras (infra_id, provider, region, instance_type, use_spot, auto_destroy, instances, tools, hours,
                            hourly_price, expires_at)
  values (v_infra.infra_id, v_infra.provider, v_infra.region, v_infra.instance_type, v_infra.use_spot,
          v_infra.auto_destroy, v_infra.instances, v_infra.tools, v_infra.hours, v_infra.hourly_price,
          now() + v_infra.hours * interval '1 hour')
  returning id into v_no;
  insert into cloud_instances (infra_no, name)
  select v_no, format('scanfarm-%s-%s', v_infra.infra_id, n) from generate_series(1, v_infra.instances) n;
  perform notify_masters();
  return v_no;
end $$;
