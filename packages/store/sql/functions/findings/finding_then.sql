-- What fields of a finding were at p_at, as far as others than runs of p_job_nos changed them since: {"severity": "high"}.
create or replace function finding_then(p_id bigint, p_at timestamptz, p_job_nos bigint[])
returns table (was jsonb)
language sql stable as $$
  select jsonb_object_agg(f.key, f.value ->> 'from' order by c.id desc)
  from finding_changes c cross join lateral jsonb_each(c.changes) f left join runs r on r.id = c.run_id
  where c.vulnerability_id = p_id and c.changed_at > p_at and coalesce(r.job_no <> all(p_job_nos), true)
$$;
