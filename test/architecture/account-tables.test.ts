import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { acrossAccounts } from '../support/statements/across-accounts.ts';
import {
  findTables,
  hasKind,
  hasUnreadableTable,
  namesOneAccount,
} from '../support/statements/find-tables.ts';
import { readStatements } from '../support/statements/read-statements.ts';
import { tableKinds } from '../support/statements/table-kinds.ts';

const root = join(import.meta.dirname, '../..');
const schema = readFileSync(join(root, 'migrations/schema.sql'), 'utf8');
const statements = await readStatements();

/** The districts and rooms on the way of a message, and what shows and changes an account's data. */
const onTheWay = [
  'accounts/sender/',
  'content/',
  'sending/',
  'outcomes/',
  'operating/manifest/',
  'operating/management/',
];
const ofMessages = statements.filter(({ file }) => onTheWay.some((room) => file.startsWith(room)));

function countByFile(found: readonly { readonly file: string }[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { file } of found) counts[file] = (counts[file] ?? 0) + 1;
  return counts;
}

test('every table belongs to accounts, to the directory or to a database', () => {
  const tables = [...schema.matchAll(/^create table (\w+) /gm)].map(([, name = '']) => name);
  assert.ok(tables.length > 80);
  assert.deepEqual(Object.keys(tableKinds).sort(), tables.sort());
});

test('a table of accounts refers to no table of the directory', () => {
  const wrong: string[] = [];
  for (const [, name = '', body = ''] of schema.matchAll(/^create table (\w+) \(([^;]*);/gm))
    for (const [, target = ''] of body.matchAll(/REFERENCES (\w+)\(/g))
      if (tableKinds[name] === 'account' && tableKinds[target] === 'directory')
        wrong.push(`${name} -> ${target}`);
  assert.deepEqual(wrong, []);
});

test('the primary key of a table of accounts begins with the account, so that logical replication can copy one', () => {
  const wrong: string[] = [];
  for (const [, name = '', body = ''] of schema.matchAll(/^create table (\w+) \(([^;]*);/gm)) {
    const [, first = 'no primary key'] = /PRIMARY KEY \((\w+)/.exec(body) ?? [];
    const isAccount = name === 'account' ? first === 'id' : first === 'account_id';
    if (tableKinds[name] === 'account' && !isAccount) wrong.push(`${name}: ${first}`);
  }
  // Their key has a column that can be null, so they need `replica identity full`.
  assert.deepEqual(wrong, ['file_import: no primary key', 'file_import_rejection: no primary key']);
});

test('no statement on the way of a message joins tables of accounts with tables of the directory', () => {
  const mixed = ofMessages.filter(
    ({ text }) => hasKind(text, 'account') && hasKind(text, 'directory'),
  );
  assert.deepEqual(
    mixed.map(({ file, line }) => `${file}:${line}`),
    [],
  );
});

test('rule 7: each statement on the way of a message names one account, or is declared as one per database', () => {
  const across = ofMessages.filter(
    ({ text }) => (hasKind(text, 'account') || hasUnreadableTable(text)) && !namesOneAccount(text),
  );
  const declared = Object.entries(acrossAccounts).map(([file, { statements: count }]) => [
    file,
    count,
  ]);
  assert.deepEqual(
    countByFile(across),
    Object.fromEntries(declared),
    across.map(({ file, line, text }) => `${file}:${line} ${text.slice(0, 80)}`).join('\n'),
  );
});

test('every store has statements that the checks above have read, and every table is in one', async () => {
  const read = new Set(statements.map(({ file }) => file));
  const missing: string[] = [];
  for await (const file of glob('**/*-{store,sql}.ts', { cwd: join(root, 'src') })) {
    const text = await readFile(join(root, 'src', file), 'utf8');
    if (
      /\bsql`|\bsql<|database\/statements\.ts'|\.query\(|\.(selectFrom|insertInto|updateTable|deleteFrom)\(/.test(
        text,
      ) &&
      !read.has(file)
    )
      missing.push(file);
  }
  // They have only fragments, which are in the statements of other files, or run those.
  assert.deepEqual(missing.sort(), [
    'accounts/account/second-factor-sql.ts',
    'sending/queue/queue-statement-store.ts',
  ]);
  const found = new Set(statements.flatMap(({ text }) => [...findTables(text)]));
  assert.deepEqual(
    Object.keys(tableKinds).filter((name) => !found.has(name)),
    // Only migrations use it.
    ['schema_migration'],
  );
});

test('tables are found however a statement names them, and its own names are none', () => {
  for (const [statement, tables] of [
    ['select from message m, account a where a.id = m.account_id', ['message', 'account']],
    ['select * from queued_delivery q, moment where true', ['queued_delivery']],
    ['insert into message (account_id) values ($)', ['message']],
    ['with message as (select 1) select from message', []],
    ['update "sender" set x = 1', ['sender']],
    ['delete from contact c using contact_list l where true', ['contact', 'contact_list']],
    ['select 1 from message_of(1)', []],
    [
      'select (select count(*) from person) from template t left join lateral membership m on true',
      ['person', 'template', 'membership'],
    ],
    ['select account, template from unnest($) as message', []],
  ] as const)
    assert.deepEqual([...findTables(statement)].sort(), [...tables].sort(), statement);
});

test('only a value names an account', () => {
  for (const [statement, names] of [
    ['select from message where account_id = $ and id = $', true],
    ['select from message m join queued_delivery q on q.account_id = m.account_id', false],
    ['select from message where account_id = any ($)', false],
    ['update account set name = $ where id = $', true],
    ['delete from account a where a.id = $', true],
    ['select from template where id = $', false],
    ['insert into sender (account_id, address) values ( $ , $ )', true],
    [
      'insert into sender (account_id, address) select r.account_id, r.address from unnest($) r',
      false,
    ],
    [
      'insert into template_image (account_id, sha256) select distinct $ , hash from unnest($) hash',
      true,
    ],
  ] as const)
    assert.equal(namesOneAccount(statement), names, statement);
});
