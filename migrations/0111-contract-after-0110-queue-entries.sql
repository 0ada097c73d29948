-- Queue entries of 0.2, with one row for all recipients of a message.
drop trigger share_queue on key_node;
select adopt_queue_entries(null, true);
drop function share_queue();
drop function give_back_queue_entries(integer);
drop function adopt_queue_entries(integer, boolean);
drop table queue_entry;
