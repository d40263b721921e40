-- Deletes old counts of failed logins, and the oldest ones beyond p_most_rows.
create or replace function drop_old_login_failures(p_most_rows int) returns void
language sql as $$
  delete from login_failures f using (
    select key from login_failures
    where last_at < greatest(now() - interval '15 minutes',
      (select last_at from login_failures order by last_at desc offset p_most_rows limit 1))
    limit 10000 for update skip locked) old
  where f.key = old.key
$$;
