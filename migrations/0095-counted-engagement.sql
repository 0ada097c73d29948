-- Which kinds of opens and clicks of a message were counted before they were deleted, as bits; null for none.
alter table message add column engaged smallint;
