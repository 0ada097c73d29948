import type pg from 'pg';
import { serviceSchema } from '../src/base/database/service-schema.ts';

interface Column {
  table: string;
  name: string;
  type: string;
  not_null: boolean;
  default: string | null;
}

interface Definition {
  table: string;
  name: string;
  definition: string;
}

const inSchema = `
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = '${serviceSchema}' and c.relkind in ('r', 'p')`;

/**
 * The current schema as text, for reading and comparing. Read from the catalogs, because the embedded PostgreSQL has no pg_dump
 * and the text must be the same on every supported version.
 */
export async function dumpSchema(pool: pg.Pool): Promise<string> {
  const tables = await pool.query<{
    name: string;
    partition: string | null;
    key: string | null;
    options: string | null;
  }>(`
    select c.relname as name,
      case when c.relispartition then (select p.relname from pg_inherits i join pg_class p on p.oid = i.inhparent where i.inhrelid = c.oid)
        || ' ' || pg_get_expr(c.relpartbound, c.oid) end as partition,
      case when c.relkind = 'p' then pg_get_partkeydef(c.oid) end as key,
      array_to_string(c.reloptions, ', ') as options
    ${inSchema} order by c.relname collate "C"`);
  const columns = await pool.query<Column>(`
    select c.relname as table, a.attname as name, format_type(a.atttypid, a.atttypmod) as type,
      a.attnotnull as not_null, pg_get_expr(d.adbin, d.adrelid) as default
    ${inSchema.replace('where', 'join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum where')}
    order by c.relname collate "C", a.attnum`);
  const constraints = await pool.query<Definition>(`
    select c.relname as table, k.conname as name, pg_get_constraintdef(k.oid, true) as definition
    ${inSchema.replace('where', 'join pg_constraint k on k.conrelid = c.oid where')} and k.contype in ('p', 'u', 'f', 'c')
      and k.conparentid = 0
    order by c.relname collate "C", k.contype = 'p' desc, k.conname collate "C"`);
  const indexes = await pool.query<Definition>(`
    select tablename as table, indexname as name, indexdef as definition from pg_indexes
    where schemaname = '${serviceSchema}' and indexname not in (select conname from pg_constraint)
    order by tablename collate "C", indexname collate "C"`);
  const partitions = new Set(
    tables.rows.filter((table) => table.partition !== null).map((table) => table.name),
  );
  const blocks = tables.rows.map((table) => {
    if (table.partition !== null)
      return `partition ${table.name} of ${table.partition}${table.key === null ? '' : ` by ${table.key}`}\n`;
    const lines = [
      ...columns.rows.filter((column) => column.table === table.name).map(describeColumn),
      ...constraints.rows
        .filter((row) => row.table === table.name)
        .map((row) => `${row.name} ${row.definition}`),
    ];
    const tail = [
      table.key === null ? '' : ` partition by ${table.key}`,
      table.options ? ` with (${table.options})` : '',
    ];
    const own = indexes.rows
      .filter((row) => row.table === table.name && !partitions.has(row.table))
      .map((row) => `${row.definition.replace(`${serviceSchema}.`, '')};\n`);
    return `create table ${table.name} (\n${lines.map((line) => `  ${line}`).join(',\n')}\n)${tail.join('')};\n${own.join('')}`;
  });
  return `-- Generated from the migrations by \`npm run generated\`; for reading, not for running.\n\n${blocks.join('\n')}`;
}

function describeColumn(column: Column): string {
  return [
    column.name,
    column.type,
    column.not_null ? 'not null' : '',
    column.default === null ? '' : `default ${column.default}`,
  ]
    .filter((part) => part !== '')
    .join(' ');
}
