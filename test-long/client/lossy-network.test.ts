import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileStore } from '../../packages/client/src/file-store.ts';
import { Signalpost } from '../../packages/client/src/index.ts';
import { addKey } from '../../test/support/api-key.ts';
import { FaultyProxy, type ProxyFault } from '../../test/support/faulty-proxy.ts';
import { FeedbackShop } from '../../test/support/feedback-shop.ts';
import { type Sink, startSink } from '../../test/support/mail-sink.ts';
import { clientSecret, password } from '../../test/support/session-world.ts';
import { waitFor } from '../../test/support/wait-for.ts';

/** Sends over a proxy that fails two of five requests, and counts what an SMTP server gets. */
const sends = Number(process.env.SENDS ?? 10_000);
const inFlight = 64;
const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
const faults: readonly ProxyFault[] = [
  'cut before',
  'cut within',
  'cut after',
  'cut answer',
  '502',
  '503',
  'delay',
];
const faultsPerRequest = 0.4;

const sink: Sink = await startSink();
const shop = await FeedbackShop.open({
  SMTP_URL: `smtp://127.0.0.1:${sink.port}?tls=off&connections=20&messages=1000`,
});
await shop.publish('note', '<p>Note</p>');
const proxy = await FaultyProxy.start(shop.service.url);

before(() => {
  process.stdout.write(`SEED=${seed}\n`);
  const random = mulberry(seed);
  proxy.nextFault = () =>
    random() < faultsPerRequest ? (faults[Math.floor(random() * faults.length)] ?? 'none') : 'none';
});

/** Numbers from 0 to 1 that a seed determines (Mulberry32). */
function mulberry(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Sender = Pick<Signalpost, 'send'>;

/** Sends `count` messages to addresses of their own, and waits until the sink has one for each. */
async function sendEach(name: string, count: number, clients: readonly Sender[]): Promise<void> {
  let next = 0;
  const addresses = Array.from({ length: count }, (_, index) => `${name}-${index}@people.test`);
  await Promise.all(
    Array.from({ length: inFlight }, async (_, worker) => {
      const client = clients[worker % clients.length] as Sender;
      for (let to = addresses[next++]; to !== undefined; to = addresses[next++])
        await client.send('note', { to });
    }),
  );
  const arrived = () => sink.mails.flatMap(({ to }) => to).filter((to) => to.startsWith(name));
  await waitFor('every message', async () => arrived().length >= count, 120_000);
  const { rows } = await shop.database.pool.query(
    `select count(*)::int as count from message where content ->> 'to' like $1`,
    [`${name}-%`],
  );
  assert.equal(rows[0].count, count);
  assert.deepEqual(arrived().sort(), addresses.sort());
}

test(`${sends} sends with a key arrive once each`, async () => {
  const key = await addKey(shop.database, shop.shop.id);
  const client = new Signalpost({ url: proxy.url, key, deadline: 300_000 });
  await sendEach('key', sends, [client]);
  process.stdout.write(`${JSON.stringify(Object.fromEntries(proxy.counts))}\n`);
});

test('processes that share tokens over the same network send once each, with few tokens', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'client-test-'));
  after(() => rm(folder, { recursive: true }));
  const grant = { type: 'password', username: shop.shop.owner.email, password } as const;
  const createProcess = () =>
    new Signalpost({
      url: proxy.url,
      account: shop.shop.id,
      deadline: 300_000,
      oauth: {
        clientId: shop.shop.integration.clientId,
        clientSecret,
        grant,
        store: fileStore(join(folder, 'tokens.json')),
      },
    });
  await sendEach('token', sends / 5, [createProcess(), createProcess(), createProcess()]);
});
