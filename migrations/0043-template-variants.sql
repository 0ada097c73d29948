-- Contents of a template version in other languages. The version has the default content, the fields and the locales.
create table template_variant (
  account_id text not null,
  template_id text not null,
  version integer not null,
  locale text not null,
  source jsonb not null,
  compiled jsonb not null,
  primary key (account_id, template_id, version, locale),
  foreign key (account_id, template_id, version) references template_version on delete cascade
);
