-- Test messages of drafts are rendered from hidden versions. They are numbered downwards from -1, so that they use up no
-- numbers of published versions, and are deleted once their messages are gone.
alter table template_image drop constraint template_image_version_check;
alter table template_version add column keep_until timestamptz;
update template_version set keep_until = created_at + interval '430 days' where trial;
create index template_version_trial on template_version (keep_until) where trial;
