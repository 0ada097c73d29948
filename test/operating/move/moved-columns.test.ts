import assert from 'node:assert/strict';
import { test } from 'node:test';
import { orderTables, readMoveCatalog } from '../../../src/operating/move/move-catalog-store.ts';
import { openMoveSession } from '../../../src/operating/move/move-session-store.ts';
import { movedValues } from '../../../src/operating/move/moved-columns-sql.ts';
import { createTestDatabase } from '../../support/test-database.ts';

const { url } = await createTestDatabase();
const session = await openMoveSession({ url });
const { tables, references, sequences } = await readMoveCatalog(session);
await session.end();

test('every column of this release can be moved, and only transaction IDs change', () => {
  const changed = tables.flatMap((table) =>
    movedValues(table).flatMap((value, index) =>
      value.includes('transaction_map') ? [`${table.root}.${table.columns[index]?.name}`] : [],
    ),
  );
  assert.deepEqual([...new Set(changed)].sort(), [
    'feed_cursor.tx',
    'message.tx',
    'message_event.tx',
  ]);
});

test('a column whose values mean something only in its server stops a move', () => {
  for (const type of ['pg_lsn', 'pg_snapshot', 'xid', 'oid', 'regclass', 'xid[]'])
    assert.throws(
      () =>
        movedValues({ key: 'message', columns: [{ name: 'place', type, statisticsTarget: null }] }),
      /message\.place can’t be moved/,
    );
});

test('the catalog has every table and sequence of the installation, and an order to write them in', () => {
  const roots = [...new Set(tables.map(({ root }) => root))];
  for (const name of [
    'account',
    'message',
    'message_event',
    'queued_delivery',
    'audit_event',
    'feed_cursor',
  ])
    assert.ok(roots.includes(name), name);
  assert.ok(!roots.includes('schema_migration') && !roots.includes('installation_move'));
  assert.ok(sequences.includes('webhook_delivery_place_seq'));
  assert.equal(orderTables(roots, references).length, roots.length);
});
