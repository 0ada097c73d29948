import assert from 'node:assert/strict';
import { createHmac, createSecretKey } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { pino } from 'pino';
import { permissionsOf } from '../../../src/accounts/access/permission.ts';
import { DnsClient } from '../../../src/base/dns/dns-client.ts';
import { HostNames } from '../../../src/base/dns/host-names.ts';
import type { ComparableAddress } from '../../../src/base/values/email-address.ts';
import { type AccountId, newId, newMessageId } from '../../../src/base/values/ids.ts';
import { erasePerson } from '../../../src/outcomes/retention/person-data-store.ts';
import {
  claimDeliveries,
  readDelivery,
  readLog,
  recordDeliveryAttempts,
  releaseLease,
} from '../../../src/outcomes/webhook/delivery-store.ts';
import {
  addEndpoint,
  changeEndpoint,
  type EndpointSettings,
  listEndpoints,
  pauseEndpoint,
  readSendableEndpoint,
  removeEndpoint,
  rotateEndpointSecret,
} from '../../../src/outcomes/webhook/endpoint-store.ts';
import { readReplays, type WebhookReplay } from '../../../src/outcomes/webhook/replay-store.ts';
import { createWebhooks } from '../../../src/outcomes/webhook/webhook-module.ts';
import { testAccountFirst } from '../../support/account-first.ts';
import { FeedbackShop } from '../../support/feedback-shop.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { testKey } from '../../support/test-service.ts';
import { waitFor } from '../../support/wait-for.ts';
import { waitForLock } from '../../support/wait-for-lock.ts';

const permissions = permissionsOf.owner;
const allowedNetworks = ['127.0.0.0/8'];
const shop = await FeedbackShop.open({ WEBHOOK_NETWORKS: '127.0.0.0/8' });
await shop.publish('note', '<p>Note</p>');
const { kysely } = shop.database;
const { clock } = shop;
const accountId = shop.shop.id;
const webhooks = createWebhooks({
  database: shop.database,
  log: pino({ level: 'silent' }),
  key: testKey,
  clock,
  changes: { subscribe: () => undefined },
  allowedNetworks,
  hostNames: new HostNames(new DnsClient([]), clock),
  attachments: { read: async () => undefined },
  publicUrl: () => shop.service.url,
});

interface Received {
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly body: { type: string; data: Record<string, unknown> };
}

/** An endpoint that gets no events of earlier tests. */
async function openEndpoint(
  endpoint: Omit<EndpointSettings, 'permissions'> & Partial<Pick<EndpointSettings, 'permissions'>>,
): ReturnType<typeof addEndpoint> {
  const { pool } = shop.database;
  await waitFor('earlier events to be processed', async () => {
    const { rows } = await pool.query(
      `select from feed_cursor c where follower = 'account events'
         and (exists (select from message where tx >= c.tx) or exists (select from message_event where tx >= c.tx))`,
    );
    return rows.length === 0;
  });
  return await addEndpoint(kysely, webhooks.box, accountId, { permissions, ...endpoint });
}

/** An endpoint with a configurable response. */
class Receiver {
  readonly received: Received[] = [];
  status = 200;
  #held: Promise<void> | undefined;
  release = (): void => undefined;
  /** Stored, because a closing server has no address while its open connections still receive requests. */
  port = 0;
  readonly #server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', async () => {
      this.received.push({
        headers: request.headers as Record<string, string>,
        text,
        body: JSON.parse(text),
      });
      await this.#held;
      response
        .writeHead(this.status, {
          location: `http://127.0.0.1:${this.port}/elsewhere`,
          'set-cookie': 'session=secret',
        })
        .end(`said ${this.status}`);
    });
  });

  static async open(): Promise<Receiver> {
    const receiver = new Receiver();
    receiver.#server.listen(0, '127.0.0.1');
    await once(receiver.#server, 'listening');
    receiver.port = (receiver.#server.address() as AddressInfo).port;
    after(() => receiver.#server.close());
    return receiver;
  }

  /** Doesn't respond until `release`. */
  hold(): void {
    this.#held = new Promise((resolve) => {
      this.release = resolve;
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`;
  }

  /** The requests about one message. */
  about(messageId: string): Received[] {
    return this.received.filter(({ body }) => body.data.messageId === messageId);
  }
}

/** Replays a period, and waits until its events are selected. */
async function replay(
  endpointId: string,
  from: Date,
  until = new Date(Date.now() + 60_000),
  state?: 'delivered' | 'failed',
): Promise<WebhookReplay> {
  const selection = { from, until, state };
  const started = await webhooks.replayPeriod(
    accountId,
    endpointId,
    selection,
    async () => undefined,
  );
  assert.ok(started);
  return await waitFor('the events to be selected', async () => {
    const [latest] = await readReplays(kysely, accountId, endpointId);
    return latest?.id === started && latest.selectedAt !== null && latest;
  });
}

/** Verifies a request as the Standard Webhooks specification requires. */
function isSigned({ headers, text }: Received, secret: string): boolean {
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${text}`;
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const wanted = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
  return (headers['webhook-signature'] ?? '').split(' ').includes(wanted);
}

test('events arrive signed and in order, with everything that a receiver needs', async () => {
  const receiver = await Receiver.open();
  const kinds = ['accepted', 'delivered'] as const;
  const { id: endpointId, secret } = await openEndpoint({
    url: receiver.url,
    kinds,
  });
  const { id, mail } = await shop.send('note', {
    metadata: { attributes: { order: 'A-1', store: 'Wien' } },
  });
  await waitFor('both events', () => receiver.about(id).length === 2);
  const [accepted, delivered] = receiver.about(id);
  assert.ok(accepted && delivered);
  assert.deepEqual(
    [accepted.body.type, delivered.body.type],
    ['message.accepted', 'message.delivered'],
  );
  assert.equal(delivered.body.data.address, mail.envelopeTo[0]);
  assert.equal(delivered.body.data.templateId, 'note');
  assert.equal(delivered.body.data.recipient, 0);
  assert.deepEqual(delivered.body.data.attributes, { order: 'A-1', store: 'Wien' });
  assert.ok(!delivered.text.includes('transcript'));
  for (const request of [accepted, delivered]) {
    assert.ok(isSigned(request, secret));
    assert.ok(!isSigned(request, `whsec_${Buffer.alloc(32).toString('base64')}`));
    assert.ok(Math.abs(Number(request.headers['webhook-timestamp']) - Date.now() / 1_000) < 10);
  }
  assert.equal(delivered.headers['webhook-id'], delivered.body.data.eventId);
  const log = await waitFor('the log', async () => {
    const lines = await readLog(kysely, accountId, endpointId, { limit: 10 });
    return lines.every(({ state }) => state === 'delivered') && lines;
  });
  assert.deepEqual(
    log.map(({ kind, lastStatus, lastAnswer }) => [kind, lastStatus, lastAnswer]),
    [
      ['delivered', 200, 'said 200'],
      ['accepted', 200, 'said 200'],
    ],
  );
  assert.deepEqual(JSON.parse(log[0]?.lastRequest ?? ''), delivered.body);
  await removeEndpoint(kysely, accountId, endpointId);
});

test('a rotated secret signs alongside the old one', async () => {
  const receiver = await Receiver.open();
  const { id: endpointId, secret } = await openEndpoint({
    url: receiver.url,
    kinds: ['accepted'],
  });
  const fresh = await rotateEndpointSecret(kysely, webhooks.box, accountId, endpointId);
  assert.ok(fresh);
  const { id } = await shop.send('note');
  await waitFor('the event', () => receiver.about(id).length === 1);
  const [request] = receiver.about(id);
  assert.ok(request && isSigned(request, secret) && isSigned(request, fresh));
  const { rows } = await shop.database.pool.query(
    'select secret from webhook_endpoint where id = $1',
    [endpointId],
  );
  assert.ok(!rows[0].secret.toString('latin1').includes(fresh.slice(6)));
  await removeEndpoint(kysely, accountId, endpointId);
});

test('a rejected event delays later ones and is retried with the same id', async () => {
  const receiver = await Receiver.open();
  receiver.status = 500;
  const { id: endpointId } = await openEndpoint({
    url: receiver.url,
    kinds: ['accepted', 'delivered'],
  });
  const { id } = await shop.send('note');
  await waitFor('a first attempt', () => receiver.about(id).length >= 1);
  assert.ok(receiver.about(id).every(({ body }) => body.type === 'message.accepted'));
  const [endpoint] = await waitFor('the failure to show', async () => {
    const found = await listEndpoints(kysely, accountId);
    return found[0]?.failingSince !== null && found;
  });
  assert.equal(endpoint?.pausedAt, null);
  const next = await waitFor('the next try in the log', async () => {
    const [newest] = await readLog(kysely, accountId, endpointId, { limit: 1 });
    return newest?.nextAt ?? undefined;
  });
  assert.ok(next.getTime() > Date.now() - 60_000 && next.getTime() < Date.now() + 60_000);
  receiver.status = 200;
  await waitFor(
    'both events',
    () => receiver.about(id).some(({ body }) => body.type === 'message.delivered'),
    20_000,
  );
  const tries = receiver.about(id).filter(({ body }) => body.type === 'message.accepted');
  assert.ok(tries.length >= 2);
  assert.equal(new Set(tries.map(({ headers }) => headers['webhook-id'])).size, 1);
  await removeEndpoint(kysely, accountId, endpointId);
});

test('a process that can’t open the secret of a format, as one of a release without formats, sends nothing and loses nothing', async () => {
  const receiver = await Receiver.open();
  const { pool } = shop.database;
  const { id: endpointId } = await openEndpoint({
    url: receiver.url,
    kinds: ['delivered'],
    format: 'resend',
  });
  const setFormat = (format: string) =>
    pool.query('update webhook_endpoint set format = $2 where id = $1', [endpointId, format]);
  await setFormat('signalpost');
  await shop.send('note');
  await waitFor('the event to wait', async () => {
    const [entry] = await readLog(kysely, accountId, endpointId, { limit: 1 });
    return entry?.state === 'pending' && entry.attempts === 0;
  });
  const claimed = await waitFor('a lease', async () => {
    const lease = await claimDeliveries(kysely, { accountId, endpointId });
    return typeof lease === 'object' && lease;
  });
  await assert.rejects(readSendableEndpoint(kysely, webhooks.box, accountId, endpointId));
  const eventIds = claimed.messages.flat().map(({ eventId }) => eventId);
  await setFormat('resend');
  await releaseLease(kysely, claimed, eventIds);
  await waitFor('the event', () => receiver.received.length === 1);
  assert.deepEqual(receiver.received[0]?.headers['svix-id'], eventIds[0]);
  await removeEndpoint(kysely, accountId, endpointId);
});

test('events released while their endpoint is resumed are still sent', async () => {
  const receiver = await Receiver.open();
  const { pool } = shop.database;
  const { id: endpointId } = await openEndpoint({
    url: receiver.url,
    kinds: ['clicked'],
  });
  // Two events of a message are leased together; the second is released because the endpoint is paused meanwhile.
  receiver.hold();
  const { id } = await shop.send('note');
  await pool.query(
    `insert into message_event (account_id, message_id, retention_days, id, at, kind, recipient)
     select account_id, id, retention_days, gen_random_uuid(), now(), 'clicked', 0 from message, generate_series(1, 2) where id = $1`,
    [id],
  );
  await waitFor('the first request', () => receiver.about(id).length === 1);
  await pauseEndpoint(kysely, accountId, endpointId, 'by hand');
  // Leases are released once the test allows it.
  const gate = await pool.connect();
  await gate.query(`
    select pg_advisory_lock(7701);
    create function wait_at_gate() returns trigger language plpgsql as $$ begin
      if current_query() like '%update webhook_delivery set lease_owner = null, claimed_until = null%' then
        perform pg_advisory_lock(7701);
        perform pg_advisory_unlock(7701);
      end if;
      return null;
    end $$;
    create trigger gate before update on webhook_delivery for each statement execute function wait_at_gate()`);
  receiver.release();
  await waitFor('the lease to be released', async () => {
    const { rows } = await pool.query(
      "select from pg_locks where locktype = 'advisory' and objid = 7701 and not granted",
    );
    return rows.length > 0;
  });
  assert.equal(await webhooks.resume(accountId, endpointId), true);
  await gate.query(`
    select pg_advisory_unlock(7701);
    drop trigger gate on webhook_delivery`);
  gate.release();
  await waitFor('the second event', () => receiver.about(id).length === 2);
  await removeEndpoint(kysely, accountId, endpointId);
});

test('an endpoint that returns 410 is paused visibly; pending events are sent when it is resumed and again when replayed', async () => {
  const receiver = await Receiver.open();
  receiver.status = 410;
  const { id: endpointId } = await openEndpoint({
    url: receiver.url,
    kinds: ['delivered'],
  });
  const first = await shop.send('note');
  const [paused] = await waitFor('the pause', async () => {
    const found = await listEndpoints(kysely, accountId);
    return found[0]?.pausedAt !== null && found;
  });
  assert.equal(paused?.pausedReason, 'it returned 410 Gone');
  const second = await shop.send('note');
  await waitFor(
    'the second event to wait',
    async () =>
      (await readLog(kysely, accountId, endpointId, { state: 'pending', limit: 10 })).length === 2,
  );
  assert.equal(receiver.about(second.id).length, 0);
  receiver.status = 204;
  assert.equal(await webhooks.resume(accountId, endpointId), true);
  await waitFor(
    'both',
    () => receiver.about(first.id).length === 2 && receiver.about(second.id).length === 1,
  );
  await waitFor(
    'the log',
    async () =>
      (await readLog(kysely, accountId, endpointId, { state: 'pending', limit: 10 })).length === 0,
  );
  assert.equal((await replay(endpointId, new Date(Date.now() - 60_000))).events, 2);
  await waitFor('the replay', () => receiver.about(second.id).length === 2);
  const eventId = String(receiver.about(second.id)[0]?.body.data.eventId);
  await waitFor(
    'the log',
    async () =>
      (await readLog(kysely, accountId, endpointId, { state: 'pending', limit: 10 })).length === 0,
  );
  const committed: number[] = [];
  const commitWith = async (_transaction: unknown, events: number) => {
    committed.push(events);
  };
  assert.equal(await webhooks.replayEvent(accountId, endpointId, eventId, commitWith), 1);
  await waitFor('one more', () => receiver.about(second.id).length === 3);
  const other = 'other' as AccountId;
  assert.equal(await webhooks.replayEvent(other, endpointId, eventId, commitWith), 0);
  assert.deepEqual(committed, [1, 0]);
  const detail = await waitFor('all tries', async () => {
    const found = await readDelivery(kysely, accountId, endpointId, eventId);
    return found?.tries.length === 3 && found;
  });
  assert.equal(detail.address, second.mail.envelopeTo[0]);
  for (const [index, { requestHeaders, responseHeaders, answer }] of detail.tries.entries()) {
    const request = receiver.about(second.id).toReversed()[index];
    const { 'webhook-signature': signature } = request?.headers ?? {};
    assert.equal(requestHeaders['webhook-signature'], signature);
    assert.match(responseHeaders.location ?? '', /elsewhere/);
    assert.equal(responseHeaders['set-cookie'], undefined);
    assert.equal(answer, '');
  }
  assert.equal(await readDelivery(kysely, other, endpointId, eventId), undefined);
  await removeEndpoint(kysely, accountId, endpointId);
});

test('an endpoint that is gone gets few of the events that wait for it', async () => {
  const receiver = await Receiver.open();
  const { id: endpointId } = await openEndpoint({ url: receiver.url, kinds: ['accepted'] });
  const log = (state: 'pending' | 'delivered') =>
    readLog(kysely, accountId, endpointId, { state, limit: 100 });
  await shop.send('note');
  await waitFor('the first', async () => (await log('delivered')).length === 1);
  await pauseEndpoint(kysely, accountId, endpointId, 'by hand');
  await Promise.all(Array.from({ length: 30 }, () => shop.send('note')));
  await waitFor('the others to wait', async () => (await log('pending')).length === 30);
  receiver.status = 410;
  await webhooks.resume(accountId, endpointId);
  await waitFor('the pause', async () => {
    const [found] = await listEndpoints(kysely, accountId);
    return found?.pausedReason === 'it returned 410 Gone';
  });
  await waitFor('the leases to end', async () => {
    const { rows } = await shop.database.pool.query(
      'select from webhook_delivery where endpoint_id = $1 and lease_owner is not null',
      [endpointId],
    );
    return rows.length === 0;
  });
  assert.ok(receiver.received.length <= 1 + 12, `${receiver.received.length} requests`);
  assert.equal((await log('pending')).length, 30);
  await removeEndpoint(kysely, accountId, endpointId);
});

test('a redirect is not followed', async () => {
  const receiver = await Receiver.open();
  receiver.status = 307;
  const { id: endpointId } = await openEndpoint({
    url: receiver.url,
    kinds: ['accepted'],
  });
  const { id } = await shop.send('note');
  const [line] = await waitFor('the answer', async () => {
    const lines = await readLog(kysely, accountId, endpointId, { limit: 1 });
    return lines[0]?.lastStatus === 307 && lines;
  });
  assert.equal(line?.state, 'pending');
  assert.equal(receiver.about(id).length, 1);
  const unset = { url: receiver.url, kinds: [], permissions };
  await changeEndpoint(kysely, webhooks.box, accountId, endpointId, unset);
  await removeEndpoint(kysely, accountId, endpointId);
});

test('events of a killed process are sent once its lease expires, and no sooner', async () => {
  const receiver = await Receiver.open();
  const { id: endpointId } = await openEndpoint({
    url: receiver.url,
    kinds: ['accepted'],
  });
  const { id } = await shop.send('note');
  const stateOf = async (messageId: string) =>
    (await readLog(kysely, accountId, endpointId, { messageId, limit: 1 }))[0]?.state;
  await waitFor('the first delivery', async () => (await stateOf(id)) === 'delivered');
  const { pool } = shop.database;
  // The state that kill -9 leaves behind.
  await pool.query(
    `update webhook_delivery
     set state = 'pending', lease_owner = gen_random_uuid(), claimed_until = now() + interval '1 minute'
     where account_id = $1 and endpoint_id = $2 and message_id = $3`,
    [accountId, endpointId, id],
  );
  const later = await shop.send('note');
  await waitFor('a later one', async () => (await stateOf(later.id)) === 'delivered');
  assert.equal(await stateOf(id), 'pending');
  await pool.query(
    "update webhook_delivery set claimed_until = now() - interval '1 second' where message_id = $1",
    [id],
  );
  await waitFor('the second delivery', async () => (await stateOf(id)) === 'delivered');
  assert.equal(receiver.about(id).length, 2);
  await removeEndpoint(kysely, accountId, endpointId);
});

test('an event whose processes ended while they sent it is given up with the reason; later ones of its message are sent', async () => {
  const receiver = await Receiver.open();
  const { id: endpointId } = await openEndpoint({
    url: receiver.url,
    kinds: ['accepted', 'delivered'],
  });
  await pauseEndpoint(kysely, accountId, endpointId, 'by hand');
  const { id } = await shop.send('note');
  const log = () => readLog(kysely, accountId, endpointId, { limit: 10 });
  await waitFor('both events', async () => (await log()).length === 2);
  await shop.database.pool.query(
    `update webhook_delivery set lease_owner = gen_random_uuid(), claimed_until = now() - interval '1 s', orphaned = 3
     where endpoint_id = $1 and kind = 'accepted'`,
    [endpointId],
  );
  await webhooks.resume(accountId, endpointId);
  const [delivered, accepted] = await waitFor('both to end', async () => {
    const entries = await log();
    return entries.every(({ state }) => state !== 'pending') && entries;
  });
  assert.equal(accepted?.state, 'failed');
  assert.equal(accepted?.lastAnswer, 'not sent: the process that sent it ended 4 times');
  assert.equal(delivered?.state, 'delivered');
  assert.deepEqual(
    receiver.about(id).map(({ body }) => body.type),
    ['message.delivered'],
  );
  const eventId = String(accepted?.eventId);
  await webhooks.replayEvent(accountId, endpointId, eventId, async () => undefined);
  await waitFor('the replay', () => receiver.about(id).length === 2);
  await removeEndpoint(kysely, accountId, endpointId);
});

test('an event whose processes may have ended because of it is sent while no other is', async () => {
  const receiver = await Receiver.open();
  const { id: endpointId } = await openEndpoint({ url: receiver.url, kinds: ['accepted'] });
  const { id: suspect } = await shop.send('note');
  const stateOf = async (messageId: string) =>
    (await readLog(kysely, accountId, endpointId, { messageId, limit: 1 }))[0]?.state;
  await waitFor('the first delivery', async () => (await stateOf(suspect)) === 'delivered');
  receiver.hold();
  const { id: other } = await shop.send('note');
  await waitFor('another to be sent', () => receiver.about(other).length === 1);
  await shop.database.pool.query(
    `update webhook_delivery
     set state = 'pending', lease_owner = gen_random_uuid(), claimed_until = now() - interval '1 s', orphaned = 1
     where message_id = $1`,
    [suspect],
  );
  await waitFor('its lease', async () => {
    const { rows } = await shop.database.pool.query(
      "select from webhook_delivery where message_id = $1 and orphaned = 2 and claimed_until > now() + interval '2 minutes'",
      [suspect],
    );
    return rows.length === 1;
  });
  const { id: later } = await shop.send('note');
  await waitFor('a later one to be leased', async () => {
    const { rows } = await shop.database.pool.query(
      'select from webhook_delivery where message_id = $1 and claimed_until > now()',
      [later],
    );
    return rows.length === 1;
  });
  assert.equal(receiver.about(suspect).length, 1);
  assert.equal(receiver.about(later).length, 0);
  receiver.release();
  await waitFor('the later one', async () => (await stateOf(later)) === 'delivered');
  const order = receiver.received.map(({ body }) => body.data.messageId);
  assert.deepEqual(order, [suspect, other, suspect, later]);
  await removeEndpoint(kysely, accountId, endpointId);
});

test('an event that arrives while an earlier one of its message is rejected costs neither its retries', async () => {
  const receiver = await Receiver.open();
  const kinds = ['accepted', 'deferred'] as const;
  const { id: endpointId } = await openEndpoint({ url: receiver.url, kinds });
  receiver.hold();
  const { id } = await shop.send('note');
  await waitFor('the first request', () => receiver.about(id).length === 1);
  const { pool } = shop.database;
  await pool.query(
    `insert into message_event (account_id, message_id, retention_days, id, at, kind, recipient)
     select account_id, id, retention_days, gen_random_uuid(), now(), 'deferred', 0 from message where id = $1`,
    [id],
  );
  const log = () => readLog(kysely, accountId, endpointId, { limit: 10 });
  await waitFor('the second event', async () => (await log()).length === 2);
  receiver.status = 503;
  receiver.release();
  await waitFor('the rejection', async () =>
    (await log()).some(({ lastStatus }) => lastStatus === 503),
  );
  receiver.status = 200;
  await waitFor('both events', async () =>
    (await log()).every(({ state }) => state === 'delivered'),
  );
  const types = receiver.about(id).map(({ body }) => body.type);
  assert.deepEqual(types, ['message.accepted', 'message.accepted', 'message.deferred']);
  await removeEndpoint(kysely, accountId, endpointId);
});

/** Log entries of delivered events, one second apart since the start of 2026. */
async function addDelivered(endpointId: string, events: number): Promise<void> {
  await shop.database.pool.query(
    `insert into webhook_delivery (account_id, endpoint_id, event_id, message_id, retention_days, kind, event_at, detail, state)
     select $1, $2, gen_random_uuid(), gen_random_uuid(), 30, 'clicked',
       timestamptz '2026-01-01' + n * interval '1 s', '{}', 'delivered'
     from generate_series(1, $3) as n order by n`,
    [accountId, endpointId, events],
  );
}

test('a replay of a long period commits in steps and includes every event once', async () => {
  const { pool } = shop.database;
  const { id: endpointId } = await openEndpoint({
    url: 'http://127.0.0.1:9/',
    kinds: ['clicked'],
  });
  await pauseEndpoint(kysely, accountId, endpointId, 'by hand');
  await addDelivered(endpointId, 1_200);
  const pending = async (): Promise<number> => {
    const { rows } = await pool.query(
      "select count(*)::int as count from webhook_delivery where endpoint_id = $1 and state = 'pending'",
      [endpointId],
    );
    return rows[0].count;
  };
  const other = await pool.connect();
  try {
    await other.query('begin');
    await other.query(
      'select from webhook_delivery where endpoint_id = $1 order by place desc offset 100 limit 1 for update',
      [endpointId],
    );
    const replayId = await webhooks.replayPeriod(
      accountId,
      endpointId,
      {
        from: new Date('2026-01-01T00:01:41Z'),
        until: new Date('2026-01-02T00:00:00Z'),
        state: undefined,
      },
      async () => undefined,
    );
    assert.ok(replayId);
    const progress = async () => (await readReplays(kysely, accountId, endpointId))[0];
    // Ranges that could still be committed between the reads would make them disagree.
    await waitForLock(shop.database);
    assert.ok(((await progress())?.events ?? 0) > 0);
    assert.equal((await progress())?.selectedAt, null);
    assert.equal(await pending(), (await progress())?.waiting);
    const all = { from: new Date(0), until: new Date(), state: undefined };
    const refused = webhooks.replayPeriod(accountId, endpointId, all, async () => {
      throw new Error('not reached');
    });
    assert.equal(await refused, undefined, 'one at a time');
    await other.query('commit');
    await waitFor('all ranges', async () => (await progress())?.selectedAt !== null);
    assert.equal((await progress())?.events, 1_100);
    // The state that kill -9 leaves behind: nobody makes progress.
    await pool.query(
      'update webhook_replay set finished_at = null, after_place = 0, events = 0 where id = $1',
      [replayId],
    );
    await waitFor('the resumed replay', async () => (await progress())?.selectedAt !== null);
    assert.equal((await progress())?.events, 1_100);
    assert.equal((await progress())?.waiting, 1_100);
  } finally {
    other.release();
  }
  assert.equal(await pending(), 1_100);
  await removeEndpoint(kysely, accountId, endpointId);
});

test('a new event does not wait for a replay of a long period', async () => {
  const receiver = await Receiver.open();
  const { id: endpointId } = await openEndpoint({ url: receiver.url, kinds: ['accepted'] });
  await addDelivered(endpointId, 1_000);
  await replay(endpointId, new Date('2026-01-01'), new Date('2026-01-02'));
  const { id } = await shop.send('note');
  await waitFor('its event', () => receiver.about(id).length === 1);
  const waiting = await readLog(kysely, accountId, endpointId, { state: 'pending', limit: 1 });
  assert.equal(waiting.length, 1);
  await removeEndpoint(kysely, accountId, endpointId);
});

test('an attempt running while its person is erased stores no personal data', async () => {
  const receiver = await Receiver.open();
  const { id: endpointId } = await openEndpoint({
    url: receiver.url,
    kinds: ['delivered'],
  });
  receiver.hold();
  const { id, mail } = await shop.send('note');
  await waitFor('the request', () => receiver.about(id).length === 1);
  const address = String(mail.envelopeTo[0]);
  assert.ok(receiver.about(id)[0]?.text.includes(address));
  await erasePerson(kysely, {
    accountId,
    address: address as ComparableAddress,
    requestedBy: 'test',
    hashKey: createSecretKey(Buffer.alloc(32, 1)),
    keepSuppressions: true,
  });
  receiver.release();
  const [line] = await waitFor('the attempt', async () => {
    const lines = await readLog(kysely, accountId, endpointId, { limit: 10 });
    return lines.every(({ state }) => state === 'delivered') && lines.length === 1 && lines;
  });
  assert.equal(line?.lastStatus, 200);
  assert.equal(line?.lastRequest, null);
  assert.equal(line?.lastAnswer, null);
  assert.equal(line?.address, null);
  const detail = await readDelivery(kysely, accountId, endpointId, line?.eventId ?? '');
  assert.deepEqual(detail?.tries, []);
  await removeEndpoint(kysely, accountId, endpointId);
});

test('an endpoint gets of a message what whoever saved it can read, also in the log of what isn’t sent yet', async () => {
  for (const [scopes, address] of [
    [[], null],
    [['messages:status'], 'ann@people.test'],
  ] as const) {
    const receiver = await Receiver.open();
    receiver.status = 500;
    const { id: endpointId } = await openEndpoint({
      url: receiver.url,
      kinds: ['delivered'],
      permissions: new Set(['webhooks:write', ...scopes]),
    });
    const metadata = { externalId: 'A-1', tagList: ['orders'], attributes: { order: 'A-1' } };
    const { id } = await shop.send('note', { to: 'ann@people.test', metadata });
    await waitFor('the event', () => receiver.about(id).length > 0);
    const [posted] = receiver.about(id);
    const readable = { address, externalId: null, tag: null, attributes: {} };
    const { eventId, messageId, templateId, recipient, detail, ...rest } = posted?.body.data ?? {};
    assert.deepEqual(rest, readable);
    const logged = await readDelivery(kysely, accountId, endpointId, String(eventId));
    assert.ok(logged);
    assert.deepEqual(
      [logged.event.address, logged.event.externalId, logged.event.attributes],
      [address, null, null],
    );
    await removeEndpoint(kysely, accountId, endpointId);
  }
});

test('a lease that was lost changes nothing', async () => {
  // Without a service, which would take the event.
  const { database } = await createTestDatabase();
  const { kysely, pool } = database;
  await pool.query("insert into account (id, name) values ($1, 'Shop')", [accountId]);
  const { id: endpointId } = await addEndpoint(kysely, webhooks.box, accountId, {
    url: 'http://127.0.0.1:9/',
    kinds: ['clicked'],
    permissions,
  });
  const messageId = newMessageId();
  const eventId = newId();
  await pool.query(
    `insert into webhook_delivery (account_id, endpoint_id, event_id, message_id, retention_days, kind, event_at, detail)
     values ($1, $2, $3, $4, 30, 'clicked', now(), '{}')`,
    [accountId, endpointId, eventId, messageId],
  );
  const key = { accountId, endpointId };
  const claim = async () => {
    const claimed = await claimDeliveries(kysely, key);
    return typeof claimed === 'string' ? assert.fail(claimed) : claimed;
  };
  const first = await claim();
  assert.equal(await claimDeliveries(kysely, key), 'none');
  await pool.query(
    "update webhook_delivery set claimed_until = now() - interval '1 s' where event_id = $1",
    [eventId],
  );
  const second = await claim();
  assert.deepEqual([first.orphaned, second.orphaned], [0, 1]);
  const exchange = {
    status: 200,
    text: 'said',
    durationMs: 1,
    requestHeaders: {},
    responseHeaders: {},
  };
  const attempt = {
    eventId,
    messageId,
    end: { state: 'delivered' },
    request: 'asked',
    exchange,
  } as const;
  const record = async (lease: typeof first) => {
    const stores = { kysely, box: webhooks.box };
    return (await recordDeliveryAttempts(stores, lease, [attempt])).own.has(eventId);
  };
  assert.equal(await record(first), false);
  await releaseLease(kysely, first, [eventId]);
  assert.equal(await claimDeliveries(kysely, key), 'none');
  const [line] = await readLog(kysely, accountId, endpointId, { limit: 10 });
  assert.equal(line?.state, 'pending');
  assert.equal(await record(second), true);
});

test('a claim leases the events of several messages, a suspect alone, and leaves out a message that is partly leased', async () => {
  const { database } = await createTestDatabase();
  const { kysely, pool } = database;
  await pool.query("insert into account (id, name) values ($1, 'Shop')", [accountId]);
  const settings = { url: 'http://127.0.0.1:9/', kinds: ['clicked'], permissions } as const;
  const { id: endpointId } = await addEndpoint(kysely, webhooks.box, accountId, settings);
  const messageIds = Array.from({ length: 4 }, () => newMessageId());
  for (const messageId of [...messageIds, ...messageIds])
    await pool.query(
      `insert into webhook_delivery (account_id, endpoint_id, event_id, message_id, retention_days, kind, event_at, detail)
       values ($1, $2, $3, $4, 30, 'clicked', now(), '{}')`,
      [accountId, endpointId, newId(), messageId],
    );
  const [partly, suspect, ...others] = messageIds;
  await pool.query(
    `update webhook_delivery set claimed_until = now() + interval '1 minute'
     where message_id = $1 and place = (select max(place) from webhook_delivery where message_id = $1)`,
    [partly],
  );
  const claim = async () => {
    const claimed = await claimDeliveries(kysely, { accountId, endpointId }, { maxMessages: 8 });
    if (typeof claimed === 'string') return claimed;
    return claimed.messages.map((events) => [
      events[0]?.messageId,
      ...events.map(({ messageId }) => messageId),
    ]);
  };
  await pool.query(
    `update webhook_delivery set lease_owner = gen_random_uuid(), orphaned = 1
     where message_id = $1 and place = (select min(place) from webhook_delivery where message_id = $1)`,
    [suspect],
  );
  assert.deepEqual(await claim(), [[suspect, suspect]]);
  assert.deepEqual(
    await claim(),
    others.map((messageId) => [messageId, messageId, messageId]),
  );
  assert.equal(await claim(), 'busy');
});

test('an endpoint is removed while results of its events are recorded, and neither ends in a deadlock', async () => {
  const { database } = await createTestDatabase();
  const { kysely, pool } = database;
  await pool.query("insert into account (id, name) values ($1, 'Shop')", [accountId]);
  const settings = { url: 'http://127.0.0.1:9/', kinds: ['clicked'], permissions } as const;
  const { id: endpointId } = await addEndpoint(kysely, webhooks.box, accountId, settings);
  for (let i = 0; i < 2; i++)
    await pool.query(
      `insert into webhook_delivery (account_id, endpoint_id, event_id, message_id, retention_days, kind, event_at, detail)
       values ($1, $2, $3, $4, 30, 'clicked', now(), '{}')`,
      [accountId, endpointId, newId(), newMessageId()],
    );
  const lease = await claimDeliveries(kysely, { accountId, endpointId }, { maxMessages: 2 });
  if (typeof lease === 'string') assert.fail(lease);
  const exchange = {
    status: 503,
    text: '',
    durationMs: 1,
    requestHeaders: {},
    responseHeaders: {},
  };
  const attempts = lease.messages
    .flat()
    .map((event) => ({ ...event, end: { state: 'failed' }, request: '', exchange }) as const);
  const other = await pool.connect();
  try {
    await other.query('begin');
    await other.query('select from webhook_delivery order by place limit 1 for update');
    const recording = recordDeliveryAttempts({ kysely, box: webhooks.box }, lease, attempts);
    await waitForLock(database);
    const removal = removeEndpoint(kysely, accountId, endpointId);
    await waitForLock(database, 2);
    await other.query('commit');
    assert.equal((await recording).own.size, 2);
    assert.equal(await removal, true);
  } finally {
    other.release();
  }
});

test('an event is retried for 3 days at growing intervals; then it fails visibly and its endpoint is paused', async () => {
  const receiver = await Receiver.open();
  receiver.status = 503;
  const { id: endpointId } = await openEndpoint({
    url: receiver.url,
    kinds: ['accepted'],
  });
  const startedAt = clock.now();
  const { id } = await shop.send('note');
  const { pool } = shop.database;
  const delays: number[] = [];
  let newestEvent = '';
  for (;;) {
    const tries = delays.length + 1;
    const line = await waitFor(`attempt ${tries}`, async () => {
      const [found] = await readLog(kysely, accountId, endpointId, { limit: 1 });
      return found?.attempts === tries && found;
    });
    newestEvent = line.eventId;
    if (line.state === 'failed') break;
    assert.equal(line.state, 'pending');
    const { rows } = await pool.query(
      `select extract(epoch from due_at - now()) * 1000 as wait from webhook_delivery
       where endpoint_id = $1 and event_id = $2`,
      [endpointId, line.eventId],
    );
    delays.push(Number(rows[0].wait));
    await clock.advance(Number(rows[0].wait));
    await pool.query("select pg_notify('signalpost_change', 'webhook work:*')");
  }
  const hour = 60 * 60 * 1_000;
  const tried = clock.now() - startedAt;
  assert.ok(tried > 72 * hour && tried < 79 * hour, `${tried / hour} hours`);
  assert.ok(delays.length >= 15);
  for (const [place, wait] of delays.entries()) {
    assert.ok(wait > (delays[place - 1] ?? 0) - 2_000, delays.join());
    assert.ok(wait < 6.5 * hour);
  }
  assert.equal(new Set(receiver.about(id).map(({ headers }) => headers['webhook-id'])).size, 1);
  const paused = await waitFor('the pause', async () => {
    const [endpoint] = await listEndpoints(kysely, accountId);
    return endpoint?.pausedReason ?? undefined;
  });
  assert.equal(paused, 'requests failed for 3 days');
  receiver.status = 200;
  await webhooks.resume(accountId, endpointId);
  const detail = await readDelivery(kysely, accountId, endpointId, newestEvent);
  assert.equal(detail?.tries.length, Math.min(delays.length + 1, 25));
  assert.equal((await replay(endpointId, new Date(0), new Date(), 'delivered')).events, 0);
  assert.equal((await replay(endpointId, new Date(0), new Date(), 'failed')).events, 1);
  await waitFor('the replay', async () => {
    const [line] = await readLog(kysely, accountId, endpointId, { limit: 1 });
    return line?.state === 'delivered';
  });
  await removeEndpoint(kysely, accountId, endpointId);
});

testAccountFirst(5);
