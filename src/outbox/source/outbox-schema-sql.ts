import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
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
 * statements can be repeated. In the files, `own` is for a table that has its answers, and `apart` for one that hasn't.
 * @param tables with names of `tableNamePattern`
 * @param templates whose fields the constraints of a new table are for
 */
export function outboxSchemaSql(tables: Tables, templates: readonly TemplateNeeds[] = []): string {
  const { quote } = tableDialects[tables.dialect];
  const checks = [...constraintsOf(tables, templates)].map(
    ([name, check]) => `,\n  constraint ${quote(name)} check (${check})`,
  );
  const names = new Map([
    ['table', quote(tables.table)],
    ['answers', quote(tables.answers ?? '')],
    ['bare', tables.table.split('.').at(-1)?.slice(0, 54) ?? ''],
    ['checks', checks.join('')],
  ]);
  const kind = tables.answers === null ? 'own' : 'apart';
  return readFileSync(new URL(`outbox-${tables.dialect}.sql`, import.meta.url), 'utf8')
    .split(/^--(?=[[\]])/m)
    .filter((part) => !part.startsWith('[') || part.startsWith(`[${kind}\n`))
    .map((part) => part.replace(/^(?:\[\w+|\])\n/, ''))
    .join('')
    .replaceAll(/\{(\w+)\}/g, (_, name) => names.get(name) ?? '');
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
