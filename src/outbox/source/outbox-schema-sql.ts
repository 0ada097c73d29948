import { hash } from 'node:crypto';
import { literal, tableDialects } from './dialect-sql.ts';
import type { TemplateNeeds } from './outbox-source-store.ts';
import type { OutboxSource } from './source-schemas.ts';

type Tables = Pick<OutboxSource, 'answers' | 'dialect' | 'table'>;

/** The name of a check constraint says of which template and which definition it is. */
const namePrefix = 'signalpost_';

/** The check constraints that let a row without a value that its template needs fail in its own transaction, by name. */
function constraintsOf({ dialect }: Tables, templates: readonly TemplateNeeds[]) {
  const { has } = tableDialects[dialect];
  return new Map(
    templates.flatMap(({ id, required: { body, subject, previewText } }) => {
      const needs = Object.entries({ body, subjectLine: subject, previewText }).flatMap(
        ([member, names]) =>
          names.map((name) => {
            const isGiven = has('data', [name]);
            if (member === 'body') return isGiven;
            return `(${has('options', ['content', member])} or ${isGiven})`;
          }),
      );
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
  const { quote, id, sendAt, json, answer, own, notify } = tableDialects[tables.dialect];
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
  send_at ${sendAt}${tables.answers === null ? `,\n  -- Written by Signalpost: null is waiting, then accepted or failed.\n  ${answer}` : ''}${checks.join('')}
);
${answers}${notify(table, tables.answers === null ? 'when (new.status is null) ' : '')}`;
}

/** The statements that make the constraints of a table fit the templates. @param names of those that it has */
export function constraintChanges(
  tables: Tables,
  templates: readonly TemplateNeeds[],
  names: readonly string[],
): string[] {
  const { quote, added } = tableDialects[tables.dialect];
  const needed = constraintsOf(tables, templates);
  const change = (sql: string): string => `alter table ${quote(tables.table)} ${sql};`;
  return [
    ...names
      .filter((name) => name.startsWith(namePrefix) && !needed.has(name))
      .map((name) => change(`drop constraint ${quote(name)}`)),
    ...[...needed]
      .filter(([name]) => !names.includes(name))
      .map(([name, check]) => change(`add constraint ${quote(name)} check (${check})${added}`)),
  ];
}
