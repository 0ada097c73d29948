-- Where a message goes in several transactions: the recipients of the one under way, and those of a claim whose lease
-- ended after a final dot, until it is settled what follows for them. Null: all that are pending, and none.

alter table queue_entry add column in_transaction smallint[];
alter table queue_entry add column doubtful smallint[];
