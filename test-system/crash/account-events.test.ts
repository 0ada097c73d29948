import assert from 'node:assert/strict';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { readApiKeys, removeApiKey } from '../../src/accounts/access/api-key-store.ts';
import { policies } from '../../src/base/fairness/policies.ts';
import { newId } from '../../src/base/values/ids.ts';
import { removeOldEventPages } from '../../src/outcomes/webhook/account-event-store.ts';
import { testAccountFirst } from '../../test/support/account-first.ts';
import { addKey } from '../../test/support/api-key.ts';
import { EventStream } from '../../test/support/event-stream.ts';
import { FeedbackShop } from '../../test/support/feedback-shop.ts';
import { ManagementClient } from '../../test/support/management-client.ts';
import { runSignalpost } from '../../test/support/run-signalpost.ts';
import { bodyWith, SendClient } from '../../test/support/send-client.ts';
import type { TextResponse } from '../../test/support/send-request.ts';
import { getToken, openShop } from '../../test/support/shop.ts';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const shop = await FeedbackShop.open({ MAX_CONNECTIONS_PER_PEER: '2000' });
await shop.publish('note', '<p>Note</p>');
const accountId = shop.shop.id;
const key = await addKey(shop.database, accountId, { scopes: ['messages:read'] });
const client = new ManagementClient(shop.service, key);
const path = `/accounts/${accountId}/events`;
const address = `${shop.service.url}/manage/v1${path}`;
const authorization = { authorization: `Bearer ${key}` };
const { pool } = shop.database;
const other = await openShop(shop.database, { id: '46200' });

interface Item {
  readonly cursor: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const itemsOf = (response: TextResponse): readonly Item[] => {
  assert.equal(response.status, 200, response.text);
  return response.body.items as Item[];
};

async function latest(): Promise<string> {
  return String((await client.get(`${path}?after=latest`)).body.cursor);
}

/** Everything after a cursor, read in pages of this size. */
async function readAll(after: string, limit: number): Promise<Item[]> {
  const all: Item[] = [];
  for (let cursor = after; ; ) {
    const response = await client.get(`${path}?after=${cursor}&limit=${limit}`);
    all.push(...itemsOf(response));
    cursor = String(response.body.cursor);
    if (response.body.more !== true) return all;
  }
}

/** Waits until the log has this many events after a cursor. */
function waitForEvents(after: string, count: number): Promise<Item[]> {
  return waitFor(`${count} events`, async () => {
    const items = await readAll(after, 1_000);
    return items.length >= count && items;
  });
}

const idOf = ({ data }: Pick<Item, 'data'>): string => String(data.eventId);

/** A message's `opened` event, in a transaction that the caller ends. */
async function insertEvent(
  connection: { query(text: string, values: unknown[]): Promise<unknown> },
  messageId: string,
): Promise<string> {
  const id = newId();
  await connection.query(
    `insert into message_event (account_id, message_id, retention_days, id, at, kind)
     select account_id, id, retention_days, $2, now(), 'opened' from message where id = $1`,
    [messageId, id],
  );
  return id;
}

test('events of a message come in order, with the content of webhooks', async () => {
  const after = await latest();
  const { id, mail } = await shop.send('note', { metadata: { attributes: { order: 'A-1' } } });
  const items = await waitForEvents(after, 2);
  assert.deepEqual(
    items.map(({ type, data }) => [type, data.messageId, data.recipient, data.address]),
    [
      ['message.accepted', id, null, mail.envelopeTo[0]],
      ['message.delivered', id, 0, mail.envelopeTo[0]],
    ],
  );
  const [accepted, delivered] = items;
  assert.equal(accepted?.data.eventId, id);
  assert.deepEqual(Object.keys(delivered?.data ?? {}), [
    'eventId',
    'messageId',
    'externalId',
    'templateId',
    'tag',
    'attributes',
    'recipient',
    'address',
    'detail',
  ]);
  assert.deepEqual(delivered?.data.attributes, { order: 'A-1' });
  assert.equal(delivered?.data.templateId, 'note');
  assert.ok(!JSON.stringify(items).includes('transcript'));
});

test('pages of any size add up to the same events, and a filter to those of its kinds', async () => {
  const after = await latest();
  const { id } = await shop.send('note');
  await pool.query(
    `insert into message_event (account_id, message_id, retention_days, id, at, kind)
     select account_id, id, retention_days, gen_random_uuid(), now(), 'opened'
     from message, generate_series(1, 250) where id = $1`,
    [id],
  );
  const all = (await waitForEvents(after, 252)).map(idOf);
  assert.equal(new Set(all).size, 252);
  for (const limit of [7, 100, 101, 251])
    assert.deepEqual((await readAll(after, limit)).map(idOf), all);
  const opened = await client.get(`${path}?after=${after}&kind=opened,bounced&limit=200`);
  assert.equal(itemsOf(opened).length, 200);
  assert.equal(opened.body.more, true);
  const rest = await client.get(`${path}?after=${opened.body.cursor}&kind=opened&limit=200`);
  assert.equal(itemsOf(rest).length, 50);
  assert.ok([...itemsOf(opened), ...itemsOf(rest)].every(({ type }) => type === 'message.opened'));
  const none = await client.get(`${path}?after=${after}&kind=bounced`);
  assert.deepEqual(itemsOf(none), []);
  assert.equal(
    none.body.cursor,
    (await client.get(`${path}?after=${none.body.cursor}`)).body.cursor,
  );
});

/** Waits for the last event of a message. */
async function waitForDelivered(id: string): Promise<void> {
  await waitFor('its events', async () =>
    (await readAll(await firstCursor(), 1_000)).some(
      ({ type, data }) => type === 'message.delivered' && data.messageId === id,
    ),
  );
}

test('a transaction that commits late is not skipped: events that began after it wait for it', async () => {
  const { id } = await shop.send('note');
  await waitForDelivered(id);
  const after = await latest();
  const gate = await pool.connect();
  await gate.query('begin');
  const late = await insertEvent(gate, id);
  const early = await insertEvent(pool, id);
  const stream = await EventStream.open(`${address}?after=${after}`, authorization);
  const poll = client.get(`${path}?after=${after}&wait=30`);
  const startedAt = performance.now();
  // The other followers have the same horizon, so several of their rounds pass meanwhile.
  await pool.query('select pg_sleep(1.5)');
  assert.equal((await readAll(after, 100)).length, 0);
  assert.equal(stream.events.length, 0);
  await gate.query('commit');
  gate.release();
  assert.deepEqual(itemsOf(await poll).map(idOf), [late, early]);
  const events = await waitFor('both', () => stream.events.length >= 2 && stream.events);
  assert.deepEqual(
    events.map(({ data }) => data.data.eventId),
    [late, early],
  );
  // Well before the heartbeat, which reads too.
  assert.ok(performance.now() - startedAt < 12_000);
});

/** The beginning of what is kept. */
async function firstCursor(): Promise<string> {
  const [first] = itemsOf(await client.get(`${path}?limit=1`));
  return first?.cursor ?? '';
}

test('a long poll returns the next event, or with none after its time', async () => {
  const after = await latest();
  const startedAt = performance.now();
  const empty = await client.get(`${path}?after=${after}&wait=1`);
  assert.deepEqual(empty.body, { items: [], cursor: after, more: false });
  assert.ok(performance.now() - startedAt >= 990);
  const waiting = client.get(`${path}?after=${after}&wait=30`);
  const { id } = await shop.send('note');
  assert.equal(itemsOf(await waiting)[0]?.data.messageId, id);
  await waitForDelivered(id);
});

test('a stream that is cut again and again neither misses nor repeats an event', async () => {
  const after = await latest();
  const { id } = await shop.send('note');
  const sent: string[] = [];
  let done = false;
  const producing = (async () => {
    for (let count = 0; count < 120; count += 1) sent.push(await insertEvent(pool, id));
    done = true;
  })();
  const received: string[] = [];
  let lastId = '';
  for (let round = 0; received.length < 122; round += 1) {
    const stream = await EventStream.open(
      `${address}?after=${after}`,
      lastId === '' ? authorization : { ...authorization, 'last-event-id': lastId },
    );
    assert.equal(stream.response?.statusCode, 200, stream.text);
    assert.equal(stream.response?.headers['x-accel-buffering'], 'no');
    assert.match(String(stream.response?.headers['content-type']), /^text\/event-stream/);
    assert.equal(stream.response?.headers['cache-control'], 'no-store');
    const wanted = done ? 122 - received.length : (round % 5) + 1;
    await waitFor('more events', () => stream.events.length >= Math.max(1, Math.min(wanted, 30)));
    const taken = stream.events.slice();
    stream.close();
    received.push(...taken.map(({ data }) => String(data.data.eventId)));
    lastId = taken.at(-1)?.id ?? lastId;
  }
  await producing;
  assert.equal(new Set(received).size, received.length);
  assert.deepEqual(received, (await readAll(after, 1_000)).map(idOf));
});

test('a reader continues on a service that was killed and started again', async () => {
  const own = await createTestDatabase();
  const world = await openShop(own.database);
  const ownKey = await addKey(own.database, world.id);
  const environment = {
    DATA_DIR: join(temporaryFolder(), 'data'),
    DATABASE_URL: own.url,
    PORT: '0',
    LOG_LEVEL: 'warn',
    SIGNALPOST_KEY: Buffer.alloc(32, 7).toString('base64'),
  };
  const received: string[] = [];
  const accepted: string[] = [];
  let lastId = '';
  for (let round = 0; round < 3; round += 1) {
    const node = runSignalpost(['serve', '--processes', '1'], environment);
    const [, url = ''] = await node.printed(/running at (http:\/\/\S+)/);
    const token = await getToken({ url }, world);
    const sender = new SendClient({ url }, token);
    const stream = await EventStream.open(`${url}/manage/v1/accounts/${world.id}/events`, {
      authorization: `Bearer ${ownKey}`,
      'last-event-id': lastId,
    });
    const sending = Promise.all(
      Array.from({ length: 20 }, () => sender.send({ body: bodyWith({}) }).catch(() => undefined)),
    );
    assert.equal(stream.response?.statusCode, 200, stream.text);
    await waitFor('some events', () => stream.events.length > 3, 90_000);
    if (round < 2) process.kill(node.child.pid ?? 0, 'SIGKILL');
    for (const response of await sending)
      if (response?.status === 200) accepted.push(String(response.body.messageId));
    if (round < 2) await node.exit;
    else
      await waitFor(
        'everything',
        async () => {
          const { rows } = await own.database.pool.query(
            'select (select count(*) from message) + (select count(*) from message_event) as count',
          );
          return Number(rows[0].count) === received.length + stream.events.length;
        },
        90_000,
      );
    received.push(...stream.events.map(({ data }) => String(data.data.eventId)));
    lastId = stream.events.at(-1)?.id ?? lastId;
    stream.close();
    if (round === 2) node.child.kill('SIGTERM');
  }
  assert.equal(new Set(received).size, received.length);
  for (const id of accepted) assert.ok(received.includes(id));
});

test('only a caller with messages:read in the account gets events, as long as it has the permission', async () => {
  const foreign = await addKey(shop.database, other.id);
  const sendOnly = await addKey(shop.database, accountId, { scopes: ['messages:send'] });
  const token = await getToken(shop.service, shop.shop);
  for (const [bearer, status] of [
    [foreign, 404],
    [sendOnly, 403],
    [token, 403],
    [undefined, 401],
  ] as const) {
    assert.equal((await new ManagementClient(shop.service, bearer).get(path)).status, status);
    const stream = await EventStream.open(
      address,
      bearer === undefined ? {} : { authorization: `Bearer ${bearer}` },
    );
    assert.equal(stream.response?.statusCode, status);
  }
  assert.deepEqual(
    itemsOf(await new ManagementClient(shop.service, foreign).get(`/accounts/${other.id}/events`)),
    [],
  );
  const brief = await addKey(shop.database, accountId, { scopes: ['messages:read'] });
  const stream = await EventStream.open(`${address}?after=latest`, {
    authorization: `Bearer ${brief}`,
  });
  const poll = new ManagementClient(shop.service, brief).get(`${path}?after=latest&wait=30`);
  const { id } = await shop.send('note');
  await waitFor('an event', () => stream.events.length > 0);
  await poll;
  const keys = await readApiKeys(shop.database.kysely, accountId);
  const newest = keys.toSorted((a, b) => a.createdAt.getTime() - b.createdAt.getTime()).at(-1);
  await shop.database.kysely
    .transaction()
    .execute((transaction) => removeApiKey(transaction, accountId, newest?.id ?? ''));
  await waitFor(
    'the key to be refused',
    async () => (await new ManagementClient(shop.service, brief).get(path)).status === 401,
  );
  const before = stream.events.length;
  await insertEvent(pool, id);
  await waitFor('the end of the stream', () => stream.ended);
  assert.ok(stream.events.slice(before).every(({ data }) => data.type !== 'message.opened'));
});

test('every limit is named: events, seconds, kinds and cursors', async () => {
  for (const query of ['limit=1', 'limit=1000', 'wait=0', 'kind=opened', 'after=latest'])
    assert.equal((await client.get(`${path}?${query}`)).status, 200, query);
  for (const [query, field] of [
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['wait=31', 'wait'],
    ['kind=opened,nothing', 'kind'],
    ['kind=', 'kind'],
    [`kind=${'opened,'.repeat(60)}`, 'kind'],
    ['after=nonsense', 'after'],
    [`after=${'x'.repeat(201)}`, 'after'],
    [`after=${Buffer.from('["1","99999"]').toString('base64url')}`, 'after'],
    [`after=${Buffer.from('["999999999999999999","0"]').toString('base64url')}`, 'after'],
    ['before=1', 'before'],
  ] as const) {
    const response = await client.get(`${path}?${query}`);
    assert.equal(response.status, 422, `${query}: ${response.text}`);
    assert.equal((response.body.errors as { field: string }[])[0]?.field, field);
  }
  const refused = await client.get(`${path}?limit=1001`);
  assert.match(String(refused.body.detail), /1000/);
});

test('a cursor older than the retention is refused, before and after its events are deleted', async () => {
  const own = await openShop(shop.database, { id: '46300' });
  const reader = new ManagementClient(shop.service, await addKey(shop.database, own.id));
  const sender = new SendClient(shop.service, await getToken(shop.service, own));
  const ownPath = `/accounts/${own.id}/events`;
  const send = async (): Promise<void> => {
    assert.equal((await sender.send({ account: own.id })).status, 200);
  };
  await send();
  const [first] = await waitFor('two events', async () => {
    const items = itemsOf(await reader.get(ownPath));
    return items.length === 2 && items;
  });
  await pool.query(
    "update account_event_page set last_at = last_at - interval '91 days' where account_id = $1",
    [own.id],
  );
  await send();
  await waitFor('two newer events', async () => itemsOf(await reader.get(ownPath)).length === 2);
  const refuse = async (): Promise<void> => {
    const response = await reader.get(`${ownPath}?after=${first?.cursor}`);
    assert.equal(response.status, 410, response.text);
    assert.equal((response.body.errors as { field: string }[])[0]?.field, 'after');
    const stream = await EventStream.open(
      `${shop.service.url}/manage/v1${ownPath}?after=${first?.cursor}`,
      { authorization: `Bearer ${await addKey(shop.database, own.id)}` },
    );
    assert.equal(stream.response?.statusCode, 410);
  };
  await refuse();
  await removeOldEventPages(shop.database.kysely, own.id);
  await refuse();
  const kept = itemsOf(await reader.get(ownPath));
  assert.equal(kept.length, 2);
  // Whoever read everything before the deletion missed nothing.
  await pool.query(
    "update account_event_page set last_at = last_at - interval '91 days' where account_id = $1",
    [own.id],
  );
  await removeOldEventPages(shop.database.kysely, own.id);
  assert.equal((await reader.get(`${ownPath}?after=${kept.at(-1)?.cursor}`)).status, 200);
  assert.equal((await reader.get(`${ownPath}?after=${kept[0]?.cursor}`)).status, 410);
  // So does one that starts now.
  const started = await reader.get(ownPath);
  assert.deepEqual(itemsOf(started), []);
  assert.equal((await reader.get(`${ownPath}?after=${started.body.cursor}`)).status, 200);
});

test('a slow reader gets everything once it reads on, and a thousand connections leave room for other accounts', async () => {
  const after = await latest();
  const { id } = await shop.send('note');
  await pool.query(
    `insert into message_event (account_id, message_id, retention_days, id, at, kind, detail)
     select account_id, id, retention_days, gen_random_uuid(), now(), 'opened', json_build_object('text', repeat('x', 2000))
     from message, generate_series(1, 6000) where id = $1`,
    [id],
  );
  const slow = await EventStream.open(`${address}?after=${after}`, authorization);
  slow.response?.pause();
  const agent = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY });
  const statuses: number[] = [];
  const failures: string[] = [];
  const requests = Array.from({ length: 1_000 }, () => {
    const request = get(
      `${address}?after=latest`,
      { agent, headers: { ...authorization, accept: 'text/event-stream' } },
      (response) => {
        statuses.push(response.statusCode ?? 0);
        if (response.statusCode === 429) assert.equal(response.headers['retry-after'], '5');
        response.on('error', () => undefined).resume();
      },
    );
    return request.on('error', (error) => failures.push(error.message));
  });
  await waitFor('all answers', () => statuses.length + failures.length === 1_000, 90_000);
  assert.deepEqual(failures, []);
  const opened = statuses.filter((status) => status === 200).length;
  // An account that is alone can have all but a reserve.
  const most = policies.streams.total - policies.streams.reserve;
  assert.ok(opened >= 50 && opened < most, `${opened} were opened`);
  assert.deepEqual(new Set(statuses), new Set([200, 429]));
  const theirKey = await addKey(shop.database, other.id);
  const theirs = await EventStream.open(`${shop.service.url}/manage/v1/accounts/46200/events`, {
    authorization: `Bearer ${theirKey}`,
  });
  assert.equal(theirs.response?.statusCode, 200);
  // Requests that don't wait are not held up.
  assert.equal((await client.get('/accounts/46100/messages')).status, 200);
  for (const request of requests) request.destroy();
  slow.response?.resume();
  await waitFor('everything', () => slow.events.length === 6_002, 90_000);
  assert.equal(new Set(slow.events.map(({ id }) => id)).size, 6_002);
  slow.close();
  await waitFor('a free slot', async () => {
    const again = await EventStream.open(`${address}?after=latest`, authorization);
    again.close();
    return again.response?.statusCode === 200;
  });
});

testAccountFirst(20);
