import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from '../../../src/base/values/log.ts';
import { type Arrival, createInboxArrivals } from '../../../src/sending/inbox/inbox-arrivals.ts';
import { InboxStore } from '../../../src/sending/inbox/inbox-store.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { waitFor } from '../../support/wait-for.ts';

const { database } = await createTestDatabase();
const store = new InboxStore(database);
const log = createLog('silent');
const mail = { envelopeFrom: '', headers: [], subject: '', html: null, text: null, unread: false };

function keep(envelopeTo: string[]) {
  return store.add({ ...mail, envelopeTo, source: Buffer.from('x') });
}

test('mail received by another node is announced once', async () => {
  const arrivals = createInboxArrivals((seconds) => store.latest(seconds), log);
  const events: Arrival[] = [];
  const unlisten = arrivals.listen((event) => events.push(event));
  await keep(['first@example.test']);
  await waitFor('the first', () => events.length === 1);
  await keep(['second@example.test']);
  await waitFor('the second', () => events.length >= 2);
  assert.deepEqual(
    events.map(({ envelopeTo }) => envelopeTo),
    [['first@example.test'], ['second@example.test']],
  );
  unlisten();
});

test("a short database outage doesn't end the listening", async () => {
  let away = true;
  let queryCount = 0;
  const arrivals = createInboxArrivals(async (seconds) => {
    queryCount += 1;
    if (away) throw new Error('away');
    return store.latest(seconds);
  }, log);
  const events: Arrival[] = [];
  const unlisten = arrivals.listen((event) => events.push(event));
  await waitFor('a failed query', () => queryCount > 0);
  await keep(['third@example.test']);
  away = false;
  await waitFor('the message', () =>
    events.some(({ envelopeTo }) => envelopeTo[0] === 'third@example.test'),
  );
  unlisten();
});

test('nothing is queried while nobody listens', async () => {
  let queryCount = 0;
  const arrivals = createInboxArrivals(async () => {
    queryCount += 1;
    return [];
  }, log);
  const unlisten = arrivals.listen(() => undefined);
  await waitFor('a query', () => queryCount > 0);
  unlisten();
  const before = queryCount;
  const other = createInboxArrivals((seconds) => store.latest(seconds), log);
  let otherNotified = false;
  const unlistenOther = other.listen(() => {
    otherNotified = true;
  });
  await keep(['fourth@example.test']);
  await waitFor('a poll of the other', () => otherNotified);
  unlistenOther();
  assert.equal(queryCount, before);
});
