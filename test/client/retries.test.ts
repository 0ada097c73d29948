import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import {
  RateLimitedError,
  RequestError,
  Signalpost,
  UnavailableError,
} from '../../packages/client/src/index.ts';
import { addKey } from '../support/api-key.ts';
import { FeedbackShop } from '../support/feedback-shop.ts';

const shop = await FeedbackShop.open();
await shop.publish('note', '<p>Note</p>');
const key = await addKey(shop.database, shop.shop.id);
const { hostname, port } = new URL(shop.service.url);

/** What the proxy does with the next request. */
type Fault = 'none' | 'cut before' | 'cut after' | '503' | '502' | '429' | 'redirect' | 'silence';
let nextFault: () => Fault = () => 'none';
let requests = 0;

/** A proxy that loses requests and answers, as networks and other proxies do. */
const proxy = createServer((incoming, outgoing) => {
  requests += 1;
  const fault = nextFault();
  if (fault === 'cut before') incoming.socket.destroy();
  else if (fault === '503') outgoing.writeHead(503, { 'retry-after': '0' }).end('busy');
  else if (fault === '502') outgoing.writeHead(502).end('<h1>Bad gateway</h1>');
  else if (fault === '429') outgoing.writeHead(429, { 'retry-after': '7' }).end('{}');
  else if (fault === 'redirect') outgoing.writeHead(302, { location: 'https://else.test' }).end();
  else if (fault !== 'silence') forward(incoming, outgoing, fault === 'cut after');
});

function forward(incoming: IncomingMessage, outgoing: ServerResponse, loseAnswer: boolean): void {
  const { method, url: path, headers } = incoming;
  const forwarded = request({ host: hostname, port, method, path, headers }, (answer) => {
    if (loseAnswer) answer.resume().on('end', () => incoming.socket.destroy());
    else answer.pipe(outgoing.writeHead(answer.statusCode ?? 500, answer.headers));
  });
  incoming.pipe(forwarded);
}

proxy.listen(0, '127.0.0.1');
await once(proxy, 'listening');
after(() => {
  proxy.closeAllConnections();
  proxy.close();
});
const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
const signalpost = new Signalpost({ url, key, deadline: 60_000 });

async function storedCount(externalId: string): Promise<number> {
  const { rows } = await shop.database.pool.query(
    `select count(*)::integer as count from message where account_id = $1 and external_id = $2`,
    [shop.shop.id, externalId],
  );
  return rows[0].count;
}

/** Each fault once, in this order, then none. */
function faults(...list: Fault[]): void {
  nextFault = () => list.shift() ?? 'none';
}

for (const fault of ['cut before', 'cut after', '503', '502'] as const)
  test(`a send that meets "${fault}" arrives once`, async () => {
    faults(fault);
    await signalpost.send('note', { to: 'ada@people.test', externalId: fault });
    assert.equal(await storedCount(fault), 1);
  });

test('a hundred sends over a network that loses one in four arrive once each', async () => {
  const kinds: Fault[] = ['cut before', 'cut after', '503', '502'];
  nextFault = () => kinds[Math.floor(Math.random() * 4 * kinds.length)] ?? 'none';
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
  requests = 0;
  await assert.rejects(() => signalpost.send('none', { to: 'ada@people.test' }), /Invalid ID/);
  assert.equal(requests, 1);
});

test('a rate limit beyond the deadline is an error that names the wait', async () => {
  faults('429');
  await assert.rejects(
    () => signalpost.send('note', { to: 'ada@people.test' }, { deadline: 1_000 }),
    (error) => error instanceof RateLimitedError && error.retryAfter === 7,
  );
});

test('an outage until the deadline is an error with the key under which to send again', async () => {
  nextFault = () => 'cut after';
  const failure = await signalpost
    .send('note', { to: 'ada@people.test', externalId: 'outage' }, { deadline: 700 })
    .catch((error: unknown) => error);
  assert.ok(failure instanceof UnavailableError && failure.idempotencyKey !== undefined);
  faults();
  const { idempotencyKey } = failure;
  await signalpost.send('note', { to: 'ada@people.test', externalId: 'outage', idempotencyKey });
  assert.equal(await storedCount('outage'), 1);
});

test('an attempt without an answer ends with its timeout and is repeated', async () => {
  faults('silence');
  await signalpost.send('note', { to: 'ada@people.test' }, { timeout: 300 });
});

test('the caller’s signal ends a call with its reason', async () => {
  nextFault = () => 'silence';
  const signal = AbortSignal.timeout(50);
  await assert.rejects(
    () => signalpost.send('note', { to: 'ada@people.test' }, { signal }),
    (error) => error === signal.reason,
  );
});

test('a redirect is an error that names the new address, and gets no credential', async () => {
  faults('redirect');
  await assert.rejects(
    () => signalpost.send('note', { to: 'ada@people.test' }),
    (error) => error instanceof RequestError && error.message.includes('https://else.test'),
  );
});
