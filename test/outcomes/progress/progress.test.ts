import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import type { ComparableAddress } from '../../../src/base/values/email-address.ts';
import type { AccountId, MessageId } from '../../../src/base/values/ids.ts';
import { minIdAt } from '../../../src/base/values/uuid7.ts';
import { addSuppressions } from '../../../src/content/suppression/suppression-store.ts';
import type { Progress } from '../../../src/outcomes/progress/describe-progress.ts';
import { statusLimits } from '../../../src/outcomes/progress/progress-routes.ts';
import { StatusLinks } from '../../../src/sending/submission/status-link.ts';
import { DirectShop } from '../../support/direct-shop.ts';
import { EventStream } from '../../support/event-stream.ts';
import { bodyWith, SendClient } from '../../support/send-client.ts';
import { sendRequest, type TextResponse } from '../../support/send-request.ts';
import { addSender, getToken, openShop } from '../../support/shop.ts';
import { openGate } from '../../support/tcp-gate.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { startTestService, testKey } from '../../support/test-service.ts';
import { openSharedShop } from '../../support/test-shop.ts';
import { waitFor } from '../../support/wait-for.ts';

const delivering = await openSharedShop();
// Without a worker, messages wait.
const waiting = await openSharedShop({ worker: false });
const links = new StatusLinks(testKey, () => waiting.service.url);

const asked = { statusToken: true };
const isPrivate = { statusToken: { private: true } };

function send(
  { client }: { readonly client: SendClient },
  toAddress: string,
  actions: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<TextResponse> {
  return client.send({ body: bodyWith({ envelope: { toAddress }, actions }), headers });
}

async function linkOf(...parameters: Parameters<typeof send>): Promise<string> {
  const { status, text, body } = await send(...parameters);
  assert.equal(status, 200, text);
  return String(body.statusUrl);
}

async function read(url: string, language?: string): Promise<Progress> {
  const headers = language === undefined ? {} : { 'accept-language': language };
  const { status, text } = await sendRequest(url, { headers });
  assert.equal(status, 200, text);
  return JSON.parse(text);
}

function progressOf({ events }: EventStream): Progress[] {
  return events.map(({ data }) => data as unknown as Progress);
}

test('only a request that asks for a link gets one', async () => {
  const plain = await send(waiting, 'ada@people.test', {});
  assert.deepEqual(Object.keys(plain.body), [
    'success',
    'message',
    'messageId',
    'suppressedRecipients',
  ]);
  const refusing = await send(waiting, 'ada@people.test', { statusToken: false });
  assert.equal(refusing.body.statusUrl, undefined);
  assert.match(
    await linkOf(waiting, 'ada@people.test', asked),
    /^http:\/\/127\.0\.0\.1:\d+\/status\/[\w-]{40,132}$/,
  );
});

test('what isn’t valid is named', async () => {
  const cases = [
    ['yes', 'actions.statusToken', 'must be true, false or an object'],
    [null, 'actions.statusToken', 'must be true, false or an object'],
    [{ privat: true }, 'actions.statusToken.privat', 'is not a field of this request'],
    [{ private: 1 }, 'actions.statusToken.private', 'must be true or false'],
    [{ resendAfterSeconds: 0 }, 'actions.statusToken.resendAfterSeconds', 'must be >= 1'],
    [{ resendAfterSeconds: 901 }, 'actions.statusToken.resendAfterSeconds', 'must be <= 900'],
    [
      { resendAfterSeconds: 1.5 },
      'actions.statusToken.resendAfterSeconds',
      'must be a whole number',
    ],
  ] as const;
  for (const [statusToken, field, reason] of cases) {
    const { status, body } = await send(waiting, 'ada@people.test', { statusToken });
    assert.equal(status, 400);
    assert.deepEqual(body.details, [{ field, reason }]);
  }
});

test('each message of a batch has its own link', async () => {
  const { url } = waiting.service;
  const message = (toAddress: string, actions: object) =>
    bodyWith({ envelope: { toAddress }, actions: { ...actions } });
  const { body } = await sendRequest(`${url}/ete/v1/email/${waiting.shop.id}/t-0001/batch`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${waiting.token}` },
    body: JSON.stringify({
      messages: [
        message('a@one.test', asked),
        message('b@two.test', asked),
        message('c@three.test', {}),
        message('suppressed@simulator.test', isPrivate),
      ],
    }),
  });
  const results = body.results as { statusUrl?: string; status: number }[];
  assert.deepEqual(
    results.map(({ status }) => status),
    [200, 200, 200, 400],
  );
  const [one, two, none, hidden] = results.map(({ statusUrl }) => statusUrl);
  assert.equal(none, undefined);
  assert.equal((await read(one ?? '')).provider, 'one.test');
  assert.equal((await read(two ?? '')).provider, 'two.test');
  assert.equal((await read(hidden ?? '')).state, 'waiting');
});

test('a replay has the same link, also if its request would be refused now', async () => {
  const key = { 'idempotency-key': `status ${waiting.shop.id}` };
  const first = await linkOf(waiting, 'ada@people.test', asked, key);
  assert.equal(await linkOf(waiting, 'ada@people.test', asked, key), first);
  const allow = async (verified: boolean): Promise<void> => {
    await addSender(waiting.database, waiting.shop.id, 'orders@shop.test', {
      displayNames: ['Demo Shop', 'Orders'],
      verified,
    });
    await waitFor('the change', async () => {
      const { status } = await send(waiting, 'ada@people.test', {});
      return (status === 200) === verified;
    });
  };
  await allow(false);
  const replay = await send(waiting, 'ada@people.test', asked, key);
  await allow(true);
  assert.equal(replay.headers.get('idempotency-replayed'), 'true');
  assert.equal(replay.body.statusUrl, first);
});

test('a waiting message: nothing but the domain of its recipient, in the reader’s language', async () => {
  const url = await linkOf(waiting, 'ada.lovelace@people.test', {
    statusToken: { resendAfterSeconds: 60 },
  });
  const response = await sendRequest(url);
  const { at, resendAt, ...rest } = response.body;
  assert.deepEqual(rest, {
    state: 'waiting',
    text: 'Your email is on its way.',
    provider: 'people.test',
    final: false,
  });
  assert.equal(Date.parse(String(resendAt)) - Date.parse(String(at)), 60_000);
  assert.doesNotMatch(response.text, /ada/);
  assert.equal(response.headers.get('access-control-allow-origin'), '*');
  assert.equal(response.headers.get('access-control-allow-credentials'), null);
  assert.equal(response.headers.get('cache-control'), 'no-store');
  assert.equal((await read(url, 'de-AT')).text, 'Ihre E-Mail ist unterwegs.');
  assert.equal((await read(`${url}?lang=fr`, 'de')).text, 'Votre e-mail est en route.');
  const head = await fetch(url, { method: 'HEAD', headers: { accept: 'text/event-stream' } });
  assert.equal(head.status, 200);
});

test('a scheduled message says when', async () => {
  const sendAt = new Date(Date.now() + 3_600_000).toISOString();
  const url = await linkOf(waiting, 'ada@people.test', { ...asked, sendAt });
  const { state, nextTryAt } = await read(url);
  assert.deepEqual([state, nextTryAt], ['scheduled', sendAt]);
});

test('a stream ends with the delivery, and a client that reconnects is told to stop', async () => {
  const url = await linkOf(delivering, 'ada@people.test', asked);
  const stream = await EventStream.open(url);
  assert.equal(stream.response?.headers['content-type'], 'text/event-stream');
  await waitFor('the end', () => stream.ended);
  const last = stream.events.at(-1);
  assert.equal(last?.id, 'final');
  const progress = progressOf(stream);
  assert.deepEqual([progress.at(-1)?.state, progress.at(-1)?.final], ['test-inbox', true]);
  assert.ok(progress.slice(0, -1).every(({ final }) => !final));
  const again = await EventStream.open(url, { 'last-event-id': 'final' });
  assert.equal(again.response?.statusCode, 204);
});

test('a bounce is said, unless the link is private', async () => {
  const open = await linkOf(delivering, 'bounce@simulator.test', asked);
  const stream = await EventStream.open(open);
  await waitFor('the end', () => stream.ended);
  assert.equal(progressOf(stream).at(-1)?.state, 'no-mailbox');
  const gone = 'gone@people.test';
  await addSuppressions(delivering.database.kysely, delivering.shop.id, [
    { address: gone as ComparableAddress, reason: 'hard_bounce' },
  ]);
  const suppressed = await send(delivering, gone, isPrivate);
  assert.equal(suppressed.body.errorName, 'RECIPIENT_SUPPRESSED');
  const plain = await send(delivering, gone, asked);
  assert.equal(plain.body.statusUrl, undefined);
  const bounced = await linkOf(delivering, 'bounce+2@simulator.test', isPrivate);
  await waitFor('the bounce', async () => {
    const { rows } = await delivering.database.pool.query(
      `select from message where account_id = $1 and state = 'bounced'`,
      [delivering.shop.id],
    );
    return rows.length === 2;
  });
  const unknown = String(suppressed.body.statusUrl);
  assert.equal(unknown.length, bounced.length);
  const [{ at: _, ...never }, { at: __, ...failed }] = [await read(unknown), await read(bounced)];
  assert.deepEqual(never, failed);
  assert.deepEqual(never, { state: 'waiting', text: 'Your email is on its way.', final: false });
});

test('every node of an installation shows the progress', async () => {
  const { databaseUrl } = waiting;
  const other = await startTestService({ databaseUrl, worker: false });
  const url = await linkOf(waiting, 'ada@people.test', asked);
  assert.deepEqual(await read(url.replace(waiting.service.url, other.url)), await read(url));
});

test('after 15 minutes the link says so', async () => {
  const id = minIdAt(new Date(Date.now() - 900_001)) as MessageId;
  const request = { isPrivate: true, resendAfterSeconds: 0 };
  const url = links.for(waiting.shop.id, request)?.urlOf(id) ?? '';
  for (const accept of ['*/*', 'text/event-stream']) {
    const { status, body } = await sendRequest(`${url}?lang=es`, { headers: { accept } });
    assert.equal(status, 410);
    assert.deepEqual([body.state, body.final], ['expired', true]);
    assert.match(String(body.text), /^Aquí ya no hay novedades/);
  }
});

test('a stream ends with the time of its link', async () => {
  const id = minIdAt(new Date(Date.now() - 898_000)) as MessageId;
  const request = { isPrivate: true, resendAfterSeconds: 0 };
  const stream = await EventStream.open(links.for(waiting.shop.id, request)?.urlOf(id) ?? '');
  await waitFor('the end', () => stream.ended);
  assert.deepEqual(
    progressOf(stream).map(({ state }) => state),
    ['waiting', 'expired'],
  );
});

test('an erased message has no domain, and a deleted one no progress', async () => {
  const { pool } = waiting.database;
  const url = await linkOf(waiting, 'ada@people.test', asked);
  const id = links.read(url.split('/').at(-1) ?? '')?.messageId;
  await pool.query('update message set content = null where id = $1', [id]);
  assert.deepEqual((await read(url)).provider, undefined);
  await pool.query('delete from queued_delivery where message_id = $1', [id]);
  await pool.query('delete from message where id = $1', [id]);
  const { status, body } = await sendRequest(url);
  assert.deepEqual([status, body.state], [410, 'expired']);
});

test('a link has a bounded number of streams and requests', async () => {
  const url = await linkOf(waiting, 'ada@people.test', asked);
  const streams: EventStream[] = [];
  for (let count = 0; count < statusLimits.streamsOfLink; count += 1)
    streams.push(await EventStream.open(url));
  await waitFor('their progress', () => streams.every(({ events }) => events.length === 1));
  const refused = await sendRequest(url, { headers: { accept: 'text/event-stream' } });
  assert.equal(refused.status, 429);
  assert.equal(refused.headers.get('access-control-allow-origin'), '*');
  streams[0]?.close();
  await waitFor('a free place', async () => {
    const next = await EventStream.open(url);
    return next.response?.statusCode === 200;
  });
  const statuses = new Set<number>();
  for (let count = 0; count < 2 * statusLimits.ofLink; count += 1)
    statuses.add((await sendRequest(url)).status);
  assert.deepEqual([...statuses], [200, 429]);
  const other = await linkOf(waiting, 'ada@people.test', asked);
  assert.equal((await read(other)).state, 'waiting');
});

test('streams that a client asks for and leaves at once take no places', async () => {
  const url = new URL(await linkOf(waiting, 'ada@people.test', asked));
  const head = `GET ${url.pathname} HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n`;
  const leave = async (requests: number, leaveAtOnce: boolean): Promise<void> => {
    const socket = connect(Number(url.port), url.hostname);
    socket.write(head.repeat(requests));
    if (!leaveAtOnce) await once(socket, 'data');
    socket.end();
    socket.destroy();
    await once(socket, 'close');
  };
  for (let count = 0; count < 2 * statusLimits.streamsOfLink; count += 1) {
    await leave(1, true);
    await leave(1, false);
  }
  // The responses of the second and third wait for the first.
  await leave(statusLimits.streamsOfLink, false);
  await waitFor('a free place', async () => {
    const stream = await EventStream.open(url.href);
    const status = stream.response?.statusCode;
    stream.close();
    return status === 200;
  });
});

test('a link of another account’s message shows nothing', async () => {
  const id = await waiting.client.accept();
  const request = { isPrivate: false, resendAfterSeconds: 0 };
  const url = links.for('46199' as AccountId, request)?.urlOf(id as MessageId) ?? '';
  assert.equal((await sendRequest(url)).status, 410);
});

test('while the database is away, requests are refused with a time to retry, and streams wait', async () => {
  const { url, database } = await createTestDatabase();
  const gate = await openGate(url);
  const shop = await openShop(database);
  const service = await startTestService({ databaseUrl: gate.url, worker: false });
  const client = new SendClient(service, await getToken(service, shop));
  const link = await linkOf({ client }, 'ada@people.test', asked);
  const before = await EventStream.open(link);
  await waitFor('its progress', () => before.events.length === 1);
  gate.close();
  const refused = await sendRequest(link);
  assert.equal(refused.status, 503);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
  assert.equal(refused.headers.get('access-control-allow-origin'), '*');
  const during = await EventStream.open(link);
  assert.equal(during.response?.statusCode, 200);
  await database.pool.query(`update queued_delivery set due_at = 'infinity'`);
  gate.open();
  await waitFor('the change', () =>
    [before, during].every(
      (stream) => stream.events.length > 0 && progressOf(stream).at(-1)?.state === 'paused',
    ),
  );
  assert.ok(!before.ended && !during.ended);
  await service.stop();
  await waitFor('the end', () => before.ended && during.ended);
});

test('a provider that greylists, then accepts', async () => {
  let isKnown = false;
  const direct = await DirectShop.open('127.0.0.1=mail.sender.test', {
    address: '127.0.0.3',
    port: 0,
    onRcpt: () => (isKnown ? undefined : '450 4.7.1 Greylisted, try again in 1 second'),
  });
  direct.zones.set('people.test', { MX: [[10, 'mx.people.test']] });
  direct.zones.set('mx.people.test', { A: ['127.0.0.3'] });
  const stream = await EventStream.open(await linkOf(direct, 'ada@people.test', asked));
  const greylisted = await waitFor('the delay', () =>
    progressOf(stream).find(({ state }) => state === 'greylisted'),
  );
  assert.ok(greylisted.nextTryAt !== undefined);
  isKnown = true;
  await direct.database.pool.query('update queued_delivery set due_at = now()');
  await waitFor('the end', () => stream.ended);
  const last = progressOf(stream).at(-1);
  assert.deepEqual([last?.state, last?.provider], ['delivered', 'people.test']);
});
