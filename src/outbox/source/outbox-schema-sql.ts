import pg from 'pg';

/** The channel that the trigger of the table notifies, and the beginning of its function's name. */
export const outboxChannel = 'signalpost_outbox';

/**
 * The SQL of an outbox table for PostgreSQL: the table, the index that finds waiting rows however many were sent, and the trigger
 * that wakes the reader. Statements can be repeated.
 * @param table a name of `tableNamePattern`
 */
export function outboxSchemaSql(table: string): string {
  const name = table.split('.').map(pg.escapeIdentifier).join('.');
  const bare = table.split('.').at(-1) ?? table;
  const index = pg.escapeIdentifier(`${bare.slice(0, 54)}_waiting`);
  return `create table if not exists ${name} (
  id bigint generated always as identity primary key,
  -- The ID of a published template.
  template text not null check (template ~ '^[A-Za-z0-9_-]{1,64}$'),
  to_address text not null check (length(to_address) between 3 and 254),
  -- The values of the template's fields.
  data jsonb not null default '{}' check (jsonb_typeof(data) = 'object'),
  -- Further members of a send's body: envelope, content, metadata, actions.
  options jsonb not null default '{}' check (jsonb_typeof(options) = 'object'),
  -- When to send; null: at once.
  send_at timestamptz,
  created_at timestamptz not null default now(),
  -- Written by Signalpost: null is waiting, then accepted or failed.
  status text,
  message_id uuid,
  error jsonb,
  processed_at timestamptz
);

create index if not exists ${index} on ${name} (id) where status is null;

create or replace function ${outboxChannel}_notify() returns trigger language plpgsql as $$
begin
  notify ${outboxChannel};
  return null;
end $$;

create or replace trigger ${outboxChannel} after insert or update of status on ${name}
  for each row when (new.status is null) execute function ${outboxChannel}_notify();

-- The role that Signalpost signs in as needs no more than this:
-- grant select, update (status, message_id, error, processed_at) on ${name} to signalpost;
`;
}
