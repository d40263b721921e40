-- Notifies the masters at the end of the transaction. The notification has no payload.
create or replace function notify_masters() returns void
language sql as $$ select pg_notify('scanfarm_masters', '') $$;
