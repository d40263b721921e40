-- Due deliveries are looked for by receiver, so that one with many of them holds up no other.
drop index webhook_deliveries_due;
create index webhook_deliveries_due on webhook_deliveries (subscription_id, next_at) where status = 'pending';
