import { hash } from 'node:crypto';
import { tableDialects } from './dialect-sql.ts';
import type { TemplateNeeds } from './outbox-source-store.ts';
import type { OutboxSource } from './source-schemas.ts';

type Tables = Pick<OutboxSource, 'answers' | 'dialect' | 'table'>;

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const contentOf = (row: string): string =>
  ['template', 'to_address', 'data', 'options', 'send_at'].map((name) => row + name).join(', ');
/** Tables can lack columns. */
const withoutAnswer = (row: string): string =>
  `to_jsonb(${row}) - '{status, message_id, error, processed_at}'::text[]`;
const isCorrected = (differs: string): string =>
  `old.status = 'failed' and new.status = 'failed' and ${differs}`;

const postgres = {
  id: ['bigint primary key', 'generated always as identity'],
  time: 'timestamptz',
  json: (name: string) => `jsonb not null default '{}' check (jsonb_typeof(${name}) = 'object')`,
  answer: 'status text,\n  message_id uuid,\n  error jsonb,\n  processed_at timestamptz',
  has: (column: string, path: readonly string[]) =>
    `${column}::jsonb #> ${literal(`{${path.map((name) => JSON.stringify(name))}}`)} is not null`,
  /** Rows of the past may lack values. */
  added: ' not valid',
  /** What is beside the table, of which rows without an answer are to be found and failed ones are corrected. */
  own: (table: string, bare: string) => `
create index if not exists "${bare}_waiting" on ${table} (id) where status is null;

create or replace function signalpost_outbox_retry() returns trigger language plpgsql as $$
begin
  return jsonb_populate_record(new, '{"status": null, "error": null}');
end $$;

-- A failed row that is corrected is sent.
create or replace trigger signalpost_outbox_retry before update on ${table} for each row
  when (${isCorrected(`${withoutAnswer('old')} is distinct from ${withoutAnswer('new')}`)})
  execute function signalpost_outbox_retry();
`,
  /** Wakes the reader. */
  notify: (table: string, when: string) => `
create or replace function signalpost_outbox_notify() returns trigger language plpgsql as $$
begin
  notify signalpost_outbox;
  return null;
end $$;

create or replace trigger signalpost_outbox after insert or update on ${table}
  for each row ${when}execute function signalpost_outbox_notify();

-- With logical replication, instead of this trigger (before PostgreSQL 15 without "(id)"):
-- create publication signalpost_outbox for table ${table} (id) with (publish = 'insert');
`,
};

const mysql: typeof postgres = {
  id: ['bigint unsigned primary key', 'auto_increment'],
  time: 'timestamp(6) null',
  json: (name) => `json not null default (json_object()) check (json_type(${name}) = 'OBJECT')`,
  answer:
    'status varchar(8),\n  message_id char(36),\n  error json,\n  processed_at timestamp(6) null,\n  key waiting (status, id)',
  has(column, path) {
    const place = ['$', ...path.map((name) => JSON.stringify(name))].join('.');
    // What a backslash means depends on the `sql_mode`.
    const hex = `convert(x'${Buffer.from(place).toString('hex')}' using utf8mb4)`;
    return `json_contains_path(${column}, 'one', ${place.includes('\\') ? hex : literal(place)})`;
  },
  added: '',
  own(table, bare) {
    const corrected = isCorrected(`not (row(${contentOf('old.')}) <=> row(${contentOf('new.')}))`);
    return `
-- A failed row that is corrected is sent.
create trigger if not exists \`${bare}_retry\` before update on ${table} for each row
  set new.error = if(${corrected}, null, new.error),
    new.status = if(${corrected}, null, new.status);
`;
  },
  notify: () => '',
};

const dialects = { postgres, mysql };

/** The name of a check constraint says of which template and which definition it is. */
const namePrefix = 'signalpost_';

/** The check constraints that let a row without a value that its template needs fail in its own transaction, by name. */
function constraintsOf({ dialect }: Tables, templates: readonly TemplateNeeds[]) {
  const { has } = dialects[dialect];
  const all = (names: readonly string[]) => names.map((name) => has('data', [name]));
  const unless = (member: string, names: readonly string[]) =>
    all(names).map((one) => `(${has('options', ['content', member])} or ${one})`);
  return new Map(
    templates.flatMap(({ id, required: { body, subject, previewText } }) => {
      const needs = [
        ...all(body),
        ...unless('subjectLine', subject),
        ...unless('previewText', previewText),
      ];
      if (needs.length === 0) return [];
      const check = `template <> ${literal(id)} or (${needs.join(' and ')})`;
      return [[`${namePrefix}${id.slice(0, 43)}_${hash('sha256', check).slice(0, 8)}`, check]];
    }),
  );
}

/**
 * The SQL of an outbox table: the tables, and what finds waiting rows, wakes the reader and sends corrected ones. Most of its
 * statements can be repeated.
 * @param tables with names of `tableNamePattern`
 * @param templates whose fields the constraints of a new table are for
 */
export function outboxSchemaSql(tables: Tables, templates: readonly TemplateNeeds[] = []): string {
  const { id, time, json, answer, own, notify } = dialects[tables.dialect];
  const { quote } = tableDialects[tables.dialect];
  const table = quote(tables.table);
  const bare = tables.table.split('.').at(-1)?.slice(0, 54) ?? '';
  const checks = [...constraintsOf(tables, templates)].map(
    ([name, check]) => `,\n  constraint ${quote(name)} check (${check})`,
  );
  const answers =
    tables.answers === null
      ? own(table, bare)
      : `\ncreate table if not exists ${quote(tables.answers)} (\n  id ${id[0]},\n  ${answer}\n);\n`;
  return `create table if not exists ${table} (
  id ${id.join(' ')},
  -- The ID of a published template.
  template varchar(64) not null,
  to_address varchar(254) not null,
  -- The values of the template's fields.
  data ${json('data')},
  -- Further members of a send's body: envelope, content, metadata, actions.
  options ${json('options')},
  -- When to send; null: at once.
  send_at ${time}${tables.answers === null ? `,\n  -- Written by Signalpost: null is waiting, then accepted or failed.\n  ${answer}` : ''}${checks.join('')}
);
${answers}${notify(table, tables.answers === null ? 'when (new.status is null) ' : '')}`;
}

/** The statements that make the constraints of a table fit the templates. @param names of those that it has */
export function constraintChanges(
  tables: Tables,
  templates: readonly TemplateNeeds[],
  names: readonly string[],
): string[] {
  const { quote } = tableDialects[tables.dialect];
  const needed = constraintsOf(tables, templates);
  const table = quote(tables.table);
  return [
    ...names
      .filter((name) => name.startsWith(namePrefix) && !needed.has(name))
      .map((name) => `alter table ${table} drop constraint ${quote(name)};`),
    ...[...needed]
      .filter(([name]) => !names.includes(name))
      .map(([name, check]) => {
        const { added } = dialects[tables.dialect];
        return `alter table ${table} add constraint ${quote(name)} check (${check})${added};`;
      }),
  ];
}
