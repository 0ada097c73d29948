-- The audit log is read newest first: of an account, of a kind in it, and of what belongs to no account.
drop index audit_event_account;
create index audit_event_account on audit_event (account_id, at, id);
create index audit_event_kind on audit_event (account_id, kind, at, id);
