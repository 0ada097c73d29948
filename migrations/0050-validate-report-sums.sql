-- On its own, as it reads the table while others read and write it.
alter table report_sum validate constraint report_sum_sum_of_check;
