-- Opens and clicks come for as long as there are messages, so old ones are found by themselves and not by their messages.
create index message_event_engagement on message_event (account_id, message_id) where kind in ('opened', 'clicked');
alter table retention_rule drop column engagement_done;

-- What is personal goes with addresses, also from the opens and clicks of messages that were done before.
update retention_rule set address_done = default;

-- What webhooks tell of erased persons, as it is from here on.
update webhook_delivery set detail = (detail::jsonb - 'userAgent' - 'network')::json, last_answer = null where erased;
