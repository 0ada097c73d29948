import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GuardedClient, TextRow } from '../../src/base/network/guarded-database.ts';
import { outboxTable } from '../../src/outbox/reader/outbox-table-store.ts';
import type { OutboxSource } from '../../src/outbox/source/source-schemas.ts';

/** A table with one row, on a server that answers `show global status` with one answer after another. */
async function openTable(statuses: readonly (readonly TextRow[])[]) {
  const asked: (readonly TextRow[])[] = [];
  const client: GuardedClient = {
    async query(text) {
      if (text.includes('information_schema.columns'))
        return ['id', 'template', 'to_address', 'status'].map((name) => ({ name, type: 'text' }));
      if (!text.includes('show global status'))
        return text.includes('select id') ? [{ id: '7' }] : [];
      const status = statuses[asked.length] ?? [];
      asked.push(status);
      return status;
    },
    isOpen: () => true,
    close: () => undefined,
  };
  const source: OutboxSource = {
    ...{ id: 'orders', table: 'email_outbox', answers: null, after: 'keep', dialect: 'mysql' },
    ...{ server: 'db.test', rowsPerSecond: 500, createdAt: new Date() },
  };
  const table = outboxTable(client, source);
  await table.describe();
  return { table, asked };
}

const ends = (current: number, flushed: number): TextRow[] => [
  { Variable_name: 'Innodb_lsn_current', Value: String(current) },
  { Variable_name: 'Innodb_lsn_flushed', Value: String(flushed) },
];

test('a row of MariaDB is returned once the log is flushed as far as it was when the row was read', async () => {
  const statuses = [ends(900, 700), ends(1_200, 899), ends(1_300, 900)];
  const { table, asked } = await openTable(statuses);
  assert.deepEqual(await table.readWaiting(100), [{ id: '7' }]);
  assert.deepEqual(asked, statuses);
});

test('a server that says nothing of its log is asked once', async () => {
  const { table, asked } = await openTable([]);
  assert.equal((await table.readWaiting(100)).length, 1);
  assert.equal(asked.length, 1);
});
