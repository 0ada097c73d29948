-- An entry here cost each request with a key as much as its entry in the primary key. Old keys are found by walking the table.
drop index idempotency_key_created;
