-- An entry here cost each request with a key as much as its entry in the primary key. Old keys are found by walking the table.
drop index idempotency_key_created;

-- When a process last began to walk it, so that of many one does.
create table idempotency_sweep (
  id boolean primary key default true check (id),
  begun_at timestamptz not null
);
insert into idempotency_sweep (begun_at) values ('-infinity');
