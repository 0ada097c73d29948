-- What an account asks of its callers, beyond their role.
alter table account add second_factor text not null default 'own-choice'
  check (second_factor in ('own-choice', 'owners', 'everyone'));
alter table account add sign_in_hours integer check (sign_in_hours between 1 and 168);
alter table account add people_networks text[] not null default '{}';
alter table account add program_networks text[] not null default '{}';
