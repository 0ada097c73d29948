-- Recipients of a message that wait for a person, and what a template wants where an attempt's end is unknown.

alter table queue_entry add column held smallint[] not null default '{}';

alter table template add column when_uncertain text not null default 'resend'
  check (when_uncertain in ('resend', 'hold'));
