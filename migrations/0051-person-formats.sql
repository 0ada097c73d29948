-- How a person reads dates and numbers in the console; null for the default.
alter table person add column formats text check (formats in ('en-US', 'en-GB', 'en-DE', 'en-SE', 'en-IN'));
