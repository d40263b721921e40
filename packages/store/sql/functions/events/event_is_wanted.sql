-- Whether a trigger waits for events of this topic. Other events are stored as processed.
create or replace function event_is_wanted(p_topic text) returns boolean
language sql stable as $$
  select exists (
    select from trigger_topics where case when pattern is null then topic = p_topic else p_topic ~ pattern end)
$$;
