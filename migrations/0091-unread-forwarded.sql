-- Requests with X-Forwarded-For from proxies that a process doesn't trust, since it started.
alter table service_process add column unread_forwarded bigint not null default 0;
