import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { announceChange } from '../../src/base/database/announce.ts';
import { Cache } from '../../src/base/database/cache.ts';
import { ChangeListener } from '../../src/base/database/change-listener.ts';
import { createLog } from '../../src/base/values/log.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { waitFor } from '../support/wait-for.ts';

const { database, url } = await createTestDatabase();
const log = createLog('silent');

interface SilentProxy {
  readonly url: string;
  silence(silent: boolean): void;
  /** Delays the server's responses by this many milliseconds. */
  delay(milliseconds: number): void;
  /** Goes silent after the server's next response, which still arrives; resolves when it is sent. */
  silenceAfterAnswer(): Promise<void>;
  /** How many chunks the server has sent. */
  readonly answers: number;
}

/** A proxy to the database that can go silent without closing, like a network. */
async function startSilentProxy(): Promise<SilentProxy> {
  const target = new URL(url);
  const { hostname, port } = target;
  const socketFolder = target.searchParams.get('host');
  let silent = false;
  let delayed = 0;
  let last: (() => void) | undefined;
  let responses = 0;
  const server = createServer((socket) => {
    const upstream: Socket =
      socketFolder === null
        ? connect(Number(port || 5432), hostname)
        : connect(`${socketFolder}/.s.PGSQL.${port || 5432}`);
    const forward = (from: Socket, to: Socket): void => {
      from.on('data', (chunk) => {
        if (silent) return;
        if (from === upstream) responses += 1;
        if (from === upstream && delayed > 0) setTimeout(() => to.write(chunk), delayed);
        else to.write(chunk);
        if (from === upstream && last !== undefined) {
          silent = true;
          last();
        }
      });
      from.on('close', () => to.destroy());
      from.on('error', () => to.destroy());
    };
    forward(socket, upstream);
    forward(upstream, socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => server.close());
  target.searchParams.delete('host');
  target.hostname = '127.0.0.1';
  target.port = String((server.address() as AddressInfo).port);
  return {
    url: target.href,
    silence: (wanted) => {
      silent = wanted;
    },
    delay: (milliseconds) => {
      delayed = milliseconds;
    },
    get answers() {
      return responses;
    },
    silenceAfterAnswer: () =>
      new Promise((resolve) => {
        last = resolve;
      }),
  };
}

async function listen(to = url): Promise<ChangeListener> {
  const changes = new ChangeListener({ url: to }, log);
  await changes.start();
  after(() => changes.close());
  return changes;
}

test('caches are trusted for a second after the last acknowledged heartbeat was sent', async () => {
  const proxy = await startSilentProxy();
  const changes = await listen(proxy.url);
  proxy.delay(600);
  const before = proxy.answers;
  await waitFor('slow answers', () => {
    changes.isReliable();
    return proxy.answers >= before + 3;
  });
  await proxy.silenceAfterAnswer();
  // Commits from here on aren't announced.
  const start = performance.now();
  let trusted = start;
  await waitFor('the connection to be abandoned', () => {
    const now = performance.now();
    if (changes.isReliable()) trusted = now;
    return now - start > 2_000;
  });
  assert.ok(trusted - start < 1_050, `${trusted - start} ms`);
});

test('heartbeats rest while nothing reads a cache, and the next read resumes them', async () => {
  const proxy = await startSilentProxy();
  const changes = await listen(proxy.url);
  const start = performance.now();
  const before = proxy.answers;
  await waitFor('trust to end', () => performance.now() - start > 1_100);
  assert.equal(proxy.answers, before);
  assert.ok(!changes.isReliable());
  await waitFor('the heartbeat', () => changes.isReliable(), 1_000);
  await waitFor('the next ones', () => proxy.answers >= before + 3, 2_000);
  assert.ok(changes.isReliable());
});

test('an entry is read once and then served from cache', async () => {
  let reads = 0;
  const cache = new Cache<string>(await listen(), 'thing', async (key) => {
    reads += 1;
    return `value of ${key}`;
  });
  assert.equal(await cache.get('a'), 'value of a');
  assert.equal(cache.get('a'), 'value of a');
  assert.equal(cache.peek('a'), 'value of a');
  assert.equal(reads, 1);
});

test('missing entries aren’t cached', async () => {
  let value: string | undefined;
  const cache = new Cache<string>(await listen(), 'thing', async () => value);
  assert.equal(await cache.get('a'), undefined);
  value = 'made by another node';
  assert.equal(await cache.get('a'), 'made by another node');
});

test('a cache that keeps missing entries asks once, and finds one as soon as its creation is announced', async () => {
  let value: string | undefined;
  let reads = 0;
  const load = async () => {
    reads += 1;
    return value;
  };
  const cache = new Cache<string>(await listen(), 'thing', load, { keepMissing: true });
  assert.equal(await cache.get('a'), undefined);
  assert.equal(await cache.get('a'), undefined);
  assert.equal(reads, 1);
  value = 'made by another node';
  await announceChange(database.kysely, 'thing', 'a');
  await waitFor('the entry', async () => (await cache.get('a')) === value, 1_000);
});

test('an entry created while its absence is read isn’t remembered as missing', async () => {
  const reading = Promise.withResolvers<undefined>();
  const dropped = Promise.withResolvers<void>();
  const changes = await listen();
  let reads = 0;
  const load = async () => {
    reads += 1;
    return reads === 1 ? reading.promise : 'new';
  };
  const cache = new Cache<string>(changes, 'thing', load, { keepMissing: true });
  changes.subscribe('thing', () => dropped.resolve());
  const first = cache.get('a');
  await announceChange(database.kysely, 'thing', 'a');
  await dropped.promise;
  reading.resolve(undefined);
  assert.equal(await first, undefined);
  assert.equal(await cache.get('a'), 'new');
});

test('a change reaches every node within a second of its commit, and not before', async () => {
  const nodes = await Promise.all([listen(), listen()]);
  let value = 'old';
  const caches = nodes.map((node) => new Cache<string>(node, 'thing', async () => value));
  for (const cache of caches) assert.equal(await cache.get('a'), 'old');
  await database.kysely.transaction().execute(async (transaction) => {
    await announceChange(transaction, 'thing', 'a');
    for (const cache of caches) assert.equal(cache.peek('a'), 'old');
    value = 'new';
  });
  for (const cache of caches) {
    await waitFor('the new value', async () => (await cache.get('a')) === 'new', 1_000);
  }
});

test('an entry changed while being read is returned but not cached', async () => {
  const reading = Promise.withResolvers<string>();
  const dropped = Promise.withResolvers<void>();
  const changes = await listen();
  let reads = 0;
  const cache = new Cache<string>(changes, 'thing', async () => {
    reads += 1;
    return reads === 1 ? reading.promise : 'new';
  });
  changes.subscribe('thing', () => dropped.resolve());
  const first = cache.get('a');
  await announceChange(database.kysely, 'thing', 'a');
  await dropped.promise;
  reading.resolve('old');
  assert.equal(await first, 'old');
  assert.equal(await cache.get('a'), 'new');
});

test('after a second of silence the cache is bypassed, and cleared on reconnect', async () => {
  const proxy = await startSilentProxy();
  const changes = await listen(proxy.url);
  let value = 'old';
  const cache = new Cache<string>(changes, 'thing', async () => value);
  assert.equal(await cache.get('a'), 'old');
  assert.equal(cache.peek('a'), 'old');
  proxy.silence(true);
  value = 'new';
  await announceChange(database.kysely, 'thing', 'a');
  await waitFor('the bypass', () => cache.peek('a') === undefined, 2_000);
  assert.equal(await cache.get('a'), 'new');
  proxy.silence(false);
  await waitFor('the connection', () => changes.isReliable());
  assert.equal(cache.peek('a'), undefined);
  assert.equal(await cache.get('a'), 'new');
});

test('the cache stays within its limit', async () => {
  const cache = new Cache<string>(await listen(), 'thing', async (key) => key, {
    maxEntries: 3,
  });
  for (const key of ['a', 'b', 'c', 'd']) await cache.get(key);
  assert.equal(cache.peek('a'), undefined);
  assert.equal(cache.peek('d'), 'd');
});
