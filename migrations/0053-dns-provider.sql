-- The zone of a sending domain and its DNS provider, as of the last check: each provider asks for records in its own way.
alter table sending_domain
  add column zone text,
  add column dns_provider text;
