import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import type { AccountId } from '../../../src/base/values/ids.ts';
import {
  type Backlog,
  deferDueMessages,
  nextTimePlaceholder,
} from '../../../src/sending/queue/defer-backlog-store.ts';
import { account, DeliveryWorld } from '../../support/delivery-world.ts';

const world = await DeliveryWorld.create();
const defer = (backlog: Backlog) => deferDueMessages(world.database, backlog);
const backlog: Backlog = {
  accountId: account,
  domain: 'slow.test',
  transactional: false,
  after: 10_000,
  spacing: 100,
  until: 60_000,
  reason: `waiting: busy, next at ${nextTimePlaceholder} (UTC)`,
};

afterEach(async () => {
  await world.database.pool.query('delete from queued_delivery');
});

test('due messages of a backlog get consecutive times without being claimed, and show them', async () => {
  const ids = [];
  for (let count = 0; count < 5; count += 1) ids.push(await world.accept({ to: 'a@Slow.test' }));
  assert.deepEqual(await defer(backlog), { all: true, changed: 5 });
  for (const [place, id] of ids.entries()) {
    const entry = await world.entry(id);
    assert.ok(entry !== undefined && Math.abs(entry.due_in - 10.1 - place / 10) < 2);
    assert.deepEqual([entry.fence, entry.attempts], ['0', 0]);
    assert.match(entry.reason ?? '', /^waiting: busy, next at \d\d:\d\d:\d\d \(UTC\)$/);
  }
  assert.deepEqual(await defer(backlog), { all: true, changed: 0 });
});

test('messages beyond the horizon get random times in the half before it', async () => {
  for (let count = 0; count < 20; count += 1) await world.accept({ to: 'a@slow.test' });
  await defer({ ...backlog, spacing: 10_000 });
  const { rows } = await world.database.pool.query<{ due_in: number }>(
    'select extract(epoch from due_at - now())::float8 as due_in from queued_delivery order by due_at',
  );
  assert.ok(rows.every(({ due_in }) => due_in > 15 && due_in < 61));
  assert.ok(rows.filter(({ due_in }) => due_in > 29).length >= 15);
});

test('others stay due: with another domain, account or priority, canceled, expiring or claimed', async () => {
  const other = 'b1' as AccountId;
  await world.addAccount(other);
  const claimed = await world.accept({ to: 'a@slow.test' });
  const [lease] = await world.stores().claims.claim([account], 1);
  assert.equal(lease?.messageId, claimed);
  await world.accept({ to: 'a@fast.test' });
  await world.accept({ to: 'a@sub.slow.test' });
  await world.accept({ account: other, to: 'a@slow.test' });
  await world.accept({ to: 'a@slow.test', transactional: true });
  await world.accept({ to: 'a@slow.test', lifetime: -1 });
  const canceled = await world.accept({ to: 'a@slow.test' });
  await world.database.pool.query(
    'update queued_delivery set canceled = true where message_id = $1',
    [canceled],
  );
  assert.equal((await defer(backlog)).changed, 0);
  assert.equal((await defer({ ...backlog, transactional: true })).changed, 1);
});

test('a recipient is deferred by its own domain: the others of its message stay due', async () => {
  const id = await world.accept({
    to: 'a@fast.test',
    cc: ['b@slow.test', 'c@fast.test', 'd@Slow.test'],
  });
  assert.equal((await defer(backlog)).changed, 2);
  const due = (await world.entries(id)).filter(({ due_in }) => due_in <= 0);
  assert.deepEqual(
    due.map(({ recipient }) => recipient),
    [0, 2],
  );
});

test('no message is deferred past its end', async () => {
  const id = await world.accept({ to: 'a@slow.test', lifetime: 5 });
  await defer(backlog);
  const entry = await world.entry(id);
  assert.ok(entry !== undefined && entry.due_in <= 5);
});
