-- Images that anyone can load by their address. Their contents are in attachment_content. Removed images count against the
-- account's limits until their contents can be deleted, so that uploading and removing can't fill the disk.
create table hosted_image (
  account_id text not null references account on delete cascade,
  sha256 bytea not null,
  filename text not null,
  content_type text not null,
  size integer not null,
  created_at timestamptz not null default now(),
  removed_at timestamptz,
  primary key (account_id, sha256),
  foreign key (account_id, sha256) references attachment_content
);
create index hosted_image_removed on hosted_image (removed_at) where removed_at is not null;
