-- What to send next to an endpoint.
create index concurrently webhook_delivery_due on webhook_delivery (account_id, endpoint_id, bulk, due_at) where state = 'pending';
