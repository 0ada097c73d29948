-- Mail of the service itself: it belongs to a reserved account whose id no request, manifest or command can spell, waits in
-- a table of its own until the queue has it, and speaks the language of the person.

alter table account add column system boolean not null default false;
create unique index account_system on account (system) where system;
insert into account (id, name, add_ons, retention_days, system) values ('.system', 'Signalpost', '{transactional}', 90, true);

-- Nobody acts in the reserved account.
alter table membership add constraint membership_not_system check (account_id <> '.system');
alter table integration add constraint integration_not_system check (account_id <> '.system');
alter table api_key add constraint api_key_not_system check (account_id <> '.system');

-- The built-in templates were made by no person.
alter table template alter column created_by drop not null;
alter table template add constraint template_created_by check (created_by is not null or account_id = '.system');

-- proven_at: when the person followed a link that was mailed to the address. What was set up before that time may be
-- somebody else's.
alter table person add column locale text check (locale in ('en', 'de', 'fr', 'es'));
alter table person add column proven_at timestamptz;
update person p set proven_at = e.at
from (select person_id, min(at) as at from audit_event
  where kind = 'password_set_by_link' and outcome = 'success' group by person_id) e
where e.person_id = p.id;

-- facts hold no secret: the token of a link is made of the row's id and the installation's key.
create table system_mail (
  id uuid primary key,
  kind text not null check (kind in ('password-link', 'invitation', 'sender-confirmation', 'security-notice')),
  to_address text not null,
  person_id uuid references person on delete cascade,
  facts jsonb not null default '{}',
  created_at timestamptz not null default now(),
  due_at timestamptz not null default now(),
  attempts integer not null default 0
);
create index system_mail_due on system_mail (due_at);
create index system_mail_person on system_mail (person_id);

-- Who asked for the link, so that the page can say it.
alter table sender_proof add column asked_by uuid references person on delete set null;
create index sender_proof_asked_by on sender_proof (asked_by) where asked_by is not null;
