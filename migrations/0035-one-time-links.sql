-- The link that the start prints, by the hash of its code: one for each purpose, and a new one ends the one before.
create table one_time_link (
  purpose text primary key check (purpose in ('set-up', 'inbox')),
  code_hash bytea not null,
  expires_at timestamptz not null
);

-- Browsers that opened the inbox by such a link, by the hash of their cookie.
create table inbox_browser (
  hash bytea primary key,
  expires_at timestamptz not null
);

-- Where no operator was named, whoever owned every account was one. They stay operators, now by name. The demo's owner does not:
-- that installation waits for its first owner, who becomes its operator.
update person p set operator = true
where p.disabled_at is null
  and not exists (select from person where operator and disabled_at is null)
  and exists (select from account where not system)
  and not exists (
    select from account a where not a.system and not exists (
      select from membership m where m.account_id = a.id and m.person_id = p.id and m.role = 'owner'))
  and not (p.email = 'owner@shop.test' and exists (select from installation where demo_applied_at is not null));
