-- Entries that were paused after their worker had died had a lease without an end, so nobody could resume them. Earlier releases
-- write such entries.
update queue_entry set lease_owner = null where lease_owner is not null and due_at = 'infinity';
alter table queue_entry add constraint queue_entry_lease_ends check (lease_owner is null or due_at < 'infinity') not valid;
