-- Writes the event findings.digest about the jobs that ended in full hours since the last one, and once a day the event
-- findings.reminder about what is open. Without such jobs, or open findings, there is no event.
create or replace function log_digests() returns void
language plpgsql as $$
declare
  -- Events of this hour may be committed a little later.
  v_until timestamptz := date_trunc('hour', now() - interval '1 minute');
  v_today timestamptz := date_trunc('day', now(), 'UTC');
  v_from timestamptz;
  v_reminded timestamptz;
begin
  perform 1 from farm where digest_until < v_until or reminded_at < v_today;
  if not found then
    return;
  end if;
  select digest_until, reminded_at into v_from, v_reminded from farm for update skip locked;
  if not found then
    return;
  end if;
  if v_from < v_until then
    update farm set digest_until = v_until;
    perform log_digest(v_from, v_until);
  end if;
  if v_reminded < v_today then
    update farm set reminded_at = now();
    perform log_reminder(v_today);
  end if;
end $$;
