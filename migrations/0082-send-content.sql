-- Until 0.2, every key that could send could also send complete messages over SMTP, even one limited to templates.
update api_key set scopes = array_append(scopes, 'messages:send-content')
where 'messages:send' = any (scopes) and 'messages:send-content' <> all (scopes) and templates is null;
-- Those that could edit drafts could also send test messages.
update api_key set scopes = array_append(scopes, 'messages:test')
where 'templates:write' = any (scopes) and 'messages:test' <> all (scopes);
alter table api_key add constraint api_key_content_limit
  check (templates is null or 'messages:send-content' <> all (scopes)) not valid;
