-- Totals of what was sent in a variant of its template, by the variant's locale. The default content is what's left of
-- report_total, so that existing rows need no change.
create table report_locale (
  like report_total including defaults,
  locale text not null
);
alter table report_locale
  drop column tag, drop column sender_domain,
  add primary key (account_id, quarter, template_id, locale),
  add foreign key (account_id) references account on delete cascade;
create index report_locale_template on report_locale (account_id, template_id, locale, quarter);

-- Not validated here, so that the table is locked only for a moment.
alter table report_sum
  drop constraint report_sum_sum_of_check,
  add constraint report_sum_sum_of_check check (sum_of in
    ('all', 'template', 'tag', 'sender', 'destination', 'template_tag', 'locale', 'template_locale')) not valid;
