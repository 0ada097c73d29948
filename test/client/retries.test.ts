import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  RateLimitedError,
  RequestError,
  Signalpost,
  UnavailableError,
} from '../../packages/client/src/index.ts';
import { createManagement } from '../../packages/client/src/manage/index.ts';
import { addKey } from '../support/api-key.ts';
import { FaultyProxy, type ProxyFault } from '../support/faulty-proxy.ts';
import { FeedbackShop } from '../support/feedback-shop.ts';

const shop = await FeedbackShop.openShared();
await shop.publish('note', '<p>Note</p>');
const key = await addKey(shop.database, shop.shop.id);
const proxy = await FaultyProxy.start(shop.service.url);
const signalpost = new Signalpost({ url: proxy.url, key, deadline: 60_000 });

async function storedCount(externalId: string): Promise<number> {
  const { rows } = await shop.database.pool.query(
    `select count(*)::integer as count from message where account_id = $1 and external_id = $2`,
    [shop.shop.id, externalId],
  );
  return rows[0].count;
}

/** Each fault once, in this order, then none. */
function faults(...list: ProxyFault[]): void {
  proxy.nextFault = () => list.shift() ?? 'none';
}

for (const fault of ['cut before', 'cut within', 'cut after', 'cut answer', '503', '502'] as const)
  test(`a send that meets "${fault}" arrives once`, async () => {
    faults(fault);
    await signalpost.send('note', { to: 'ada@people.test', externalId: fault });
    assert.equal(await storedCount(fault), 1);
  });

test('a hundred sends over a network that loses one in four arrive once each', async () => {
  const kinds: ProxyFault[] = ['cut before', 'cut after', '503', '502'];
  proxy.nextFault = () => kinds[Math.floor(Math.random() * 4 * kinds.length)] ?? 'none';
  const ids = await Promise.all(
    Array.from({ length: 100 }, async (_, index) => {
      const externalId = `lossy-${index}`;
      const sent = await signalpost.send('note', { to: 'ada@people.test', externalId });
      assert.equal(await storedCount(externalId), 1);
      return sent.messageId;
    }),
  );
  assert.equal(new Set(ids).size, 100);
});

test('a batch that is lost halfway is repeated without sending anything twice', async () => {
  faults('cut after');
  const results = await signalpost.sendBatch('note', [
    { to: 'ada@people.test', externalId: 'batch-1' },
    { to: 'ben@people.test', externalId: 'batch-1' },
  ]);
  assert.ok(results.every(({ ok }) => ok));
  assert.equal(await storedCount('batch-1'), 2);
});

test('an error that time won’t mend is not repeated', async () => {
  faults();
  const { requests } = proxy;
  await assert.rejects(() => signalpost.send('none', { to: 'ada@people.test' }), /Invalid ID/);
  assert.equal(proxy.requests, requests + 1);
});

test('a rate limit beyond the deadline is an error that names the wait', async () => {
  faults('429');
  await assert.rejects(
    () => signalpost.send('note', { to: 'ada@people.test' }, { deadline: 1_000 }),
    (error) => error instanceof RateLimitedError && error.retryAfter === 2,
  );
});

test('an outage until the deadline is an error with the key for sending again', async () => {
  proxy.nextFault = () => 'cut after';
  const failure = await signalpost
    .send('note', { to: 'ada@people.test', externalId: 'outage' }, { deadline: 700 })
    .catch((error: unknown) => error);
  assert.ok(failure instanceof UnavailableError && failure.idempotencyKey !== undefined);
  faults();
  const { idempotencyKey } = failure;
  await signalpost.send('note', { to: 'ada@people.test', externalId: 'outage', idempotencyKey });
  assert.equal(await storedCount('outage'), 1);
});

test('an attempt without a response ends with its timeout and is repeated', async () => {
  faults('silence');
  await signalpost.send('note', { to: 'ada@people.test' }, { timeout: 300 });
});

test('the caller’s signal ends a call with its reason', async () => {
  const controller = new AbortController();
  // Earlier, the abandoned request could still arrive, and meet the fault of the next test.
  proxy.nextFault = () => {
    controller.abort(new Error('no longer needed'));
    return 'silence';
  };
  const { signal } = controller;
  await assert.rejects(
    () => signalpost.send('note', { to: 'ada@people.test' }, { signal }),
    (error) => error === signal.reason,
  );
});

test('a stream of events goes on after an outage, an error of the service and a rate limit', async () => {
  faults();
  const { cursor } = await signalpost.events.list({ after: 'latest' });
  const { messageId } = await signalpost.send('note', { to: 'ada@people.test' });
  const { requests } = proxy;
  // Each ends a request of the stream: it isn't repeated, or not before the deadline.
  faults('cut before', 'cut before', '500', '500', '429');
  const ended = new AbortController();
  const options = { signal: ended.signal, deadline: 1_500 };
  for await (const { data } of signalpost.events.stream({ after: cursor }, options))
    if (data.messageId === messageId) break;
  assert.ok(proxy.requests >= requests + 6, `${proxy.requests - requests} requests`);
  faults('redirect');
  await assert.rejects(() => signalpost.events.stream().next(), RequestError);
});

test('a redirect is an error that names the new address, and gets no credential', async () => {
  faults('redirect');
  await assert.rejects(
    () => signalpost.send('note', { to: 'ada@people.test' }),
    (error) => error instanceof RequestError && error.message.includes('https://else.test'),
  );
});

test('a change that may have been made is never an error that says it wasn’t', async () => {
  const manage = createManagement({ url: proxy.url, key });
  const list = '/manage/v1/accounts/{accountId}/lists/{listId}' as const;
  const path = { accountId: shop.shop.id, listId: 'l-once' };
  const create = () => manage.put(list, { path, body: { name: 'Once' }, ifNoneMatch: '*' });
  const remove = () => manage.delete(list, { path });
  for (const change of [create, remove]) {
    faults('cut after');
    await assert.rejects(change, UnavailableError);
  }
  faults('cut before');
  await create();
  faults();
  await assert.rejects(create, (error) => error instanceof RequestError && error.status === 412);
  await remove();
  await assert.rejects(remove, (error) => error instanceof RequestError && error.status === 404);
  faults('502');
  const read = () => manage.get(list, { path });
  await assert.rejects(read, (error) => error instanceof RequestError && error.status === 404);
});
