-- The infrastructure that p_cloud names: {infra, budget} creates one, {reuse} is an existing one. SQLSTATE SF002: it
-- does not exist.
create or replace function resolve_infra(p_cloud jsonb) returns bigint
language plpgsql as $$
declare
  v_no bigint;
begin
  if p_cloud ->> 'reuse' is null then
    return create_infra(p_cloud -> 'infra', p_cloud -> 'budget');
  end if;
  select id into v_no from cloud_infras where infra_id = p_cloud ->> 'reuse';
  if v_no is null then
    raise exception using errcode = 'SF002', message = format('there is no infrastructure %s', p_cloud ->> 'reuse');
  end if;
  return v_no;
end $$;
