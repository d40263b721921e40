-- Whether this transaction imports history. Imported steps write no events, so that no trigger fires for runs that
-- ended long ago.
create or replace function writes_history() returns boolean
language sql stable as $$ select coalesce(current_setting('scanfarm.history', true), '') = 'on' $$;
