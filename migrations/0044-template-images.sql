-- Which contents the images of a template use: those of a version, or of the draft as version 0. Their names and types are in
-- the draft's content and the version's source. A content that is used here can't be deleted.
create table template_image (
  account_id text not null references account on delete cascade,
  template_id text not null,
  version integer not null check (version >= 0),
  sha256 bytea not null,
  primary key (account_id, template_id, version, sha256),
  foreign key (account_id, template_id) references template on delete cascade,
  foreign key (account_id, sha256) references attachment_content
);
create index template_image_content on template_image (account_id, sha256);
