-- Words of the fixed text of subjects, by the templates that have them. The other words of a message's subject, those of its
-- values, are in message_attribute, as the attribute without a name. Written by the follower of subjects.
create table subject_word (
  account_id text not null references account on delete cascade,
  word text not null,
  template_id text not null,
  primary key (account_id, word, template_id)
);
