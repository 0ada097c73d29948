-- Claims whose process ended without giving them back are looked for every minute, among events that may wait by the million.
create index webhook_delivery_claimed on webhook_delivery (account_id, endpoint_id, claimed_until)
  where claimed_until is not null;
