-- A provider's format of events and signatures. Secrets of any other than our own are bound to it, so a process of a release without
-- formats can't open them, and leaves their events to the others.
alter table webhook_endpoint add column format text not null default 'signalpost';
