import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { webhookKinds } from '../../../src/content/message/event-kinds.ts';
import { isFromMailgun } from '../../../src/outcomes/relay/read-mailgun.ts';
import { isFromSendgrid } from '../../../src/outcomes/relay/read-sendgrid.ts';
import { webhookFormatNames } from '../../../src/outcomes/webhook/webhook-formats.ts';
import { bodyWith, SendClient } from '../../support/send-client.ts';
import { getToken } from '../../support/shop.ts';
import { openTestShop } from '../../support/test-shop.ts';
import { waitFor } from '../../support/wait-for.ts';

interface ReceivedRequest {
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}

const received: ReceivedRequest[] = [];
const receiver = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => {
    body += chunk;
  });
  request.on('end', () => {
    received.push({ body, headers: request.headers });
    response.writeHead(202, { 'x-request-id': 'r-1', 'set-cookie': 'session=secret' }).end('ok');
  });
});
receiver.listen(0, '127.0.0.1');
await once(receiver, 'listening');
after(() => receiver.close());
const { port } = receiver.address() as AddressInfo;

const managed = await openTestShop({ environment: { WEBHOOK_NETWORKS: '127.0.0.0/8' } });
const { database, service, owner, path } = managed;

const hook = `http://127.0.0.1:${port}/hook`;

/** @returns the path of a new webhook */
async function addWebhook(address: string): Promise<string> {
  const created = await owner.post(`${path}/webhooks`, { url: address, kinds: ['delivered'] });
  assert.equal(created.status, 201, created.text);
  return `${path}/webhooks/${created.body.id}`;
}

/** Verifies a request as the Standard Webhooks specification requires. */
function isSigned(request: ReceivedRequest | undefined, secret: string): boolean {
  const { body, headers } = request ?? { body: '', headers: {} };
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const wanted = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
  return String(headers['webhook-signature']).split(' ').includes(wanted);
}

test('a webhook receives events, has a log and can replay an event', async () => {
  const made = await owner.post(`${path}/webhooks`, {
    url: hook,
    kinds: ['delivered'],
  });
  assert.equal(made.status, 201, made.text);
  const webhook = `${path}/webhooks/${made.body.id}`;
  assert.equal((await owner.get(webhook)).text.includes(String(made.body.secret)), false);
  const sender = new SendClient(service, await getToken(service, managed.shop));
  assert.equal((await sender.send()).status, 200);
  const delivered = await waitFor('the event to be delivered', async () => {
    const { body } = await owner.get(`${webhook}/deliveries?state=delivered`);
    return (body.items as { eventId: string }[])[0];
  });
  assert.equal(received.length, 1);
  const again = await owner.post(`${webhook}/replay`, { eventId: delivered.eventId });
  assert.deepEqual(again.body, { events: 1, replayId: null });
  await waitFor('the event again', () => received.length === 2);
  assert.notEqual((await owner.post(`${webhook}/pause`)).body.pausedAt, null);
  assert.equal((await owner.post(`${webhook}/resume`)).body.pausedAt, null);
  const rotated = await owner.post(`${webhook}/secret`);
  assert.notEqual(rotated.body.secret, made.body.secret);
  assert.equal((await owner.delete(webhook)).status, 204);
  assert.equal((await owner.get(webhook)).status, 404);
});

test('a webhook can’t reach private networks, and the error names the setting that allows one', async () => {
  for (const [address, reason] of [
    ['http://example.com/', /must use https.*WEBHOOK_NETWORKS/],
    ['https://10.0.0.1/', /private network.*WEBHOOK_NETWORKS/],
    ['ftp://x/', /https/],
    ['https://u:p@x.test/', /credentials/],
  ] as const) {
    const refused = await owner.post(`${path}/webhooks`, { url: address, kinds: ['delivered'] });
    assert.equal(refused.status, 422, address);
    assert.match(refused.text, reason);
  }
  const byName = await addWebhook('https://localtest.me.invalid/');
  const test = await owner.post(`${byName}/test`, { kind: 'opened' });
  assert.equal(test.status, 200, test.text);
  assert.equal(test.body.status, 0);
  await database.pool.query(
    `update webhook_endpoint set url = 'https://192.168.0.1/' where id = $1`,
    [byName.split('/').at(-1)],
  );
  const { body } = await owner.post(`${byName}/test`, { kind: 'opened' });
  assert.match(String(body.answer), /private network.*WEBHOOK_NETWORKS/);
  await owner.delete(byName);
});

test('every kind of event can be tested, signed with the new and the old secret for a day after a rotation', async () => {
  const created = await owner.post(`${path}/webhooks`, { url: hook, kinds: ['delivered'] });
  const webhook = `${path}/webhooks/${created.body.id}`;
  await owner.post(`${webhook}/pause`);
  const rotated = await owner.post(`${webhook}/secret`);
  const dayMs = 86_400_000;
  const until = Date.parse(String((await owner.get(webhook)).body.previousUntil));
  assert.ok(Math.abs(until - Date.now() - dayMs) < 3_600_000);
  for (const kind of webhookKinds) {
    const { status, body, text } = await owner.post(`${webhook}/test`, { kind });
    assert.equal(status, 200, text);
    assert.equal(body.status, 202);
    assert.equal(body.answer, 'ok');
    const sent = received.at(-1);
    assert.equal(sent?.body, body.request);
    const event = JSON.parse(String(sent?.body));
    assert.equal(event.type, `message.${kind}`);
    assert.equal(event.test, true);
    for (const { secret } of [created.body, rotated.body])
      assert.ok(isSigned(sent, String(secret)), kind);
    const { requestHeaders, responseHeaders } = body as Record<string, Record<string, string>>;
    assert.equal(requestHeaders?.['webhook-signature'], sent?.headers['webhook-signature']);
    assert.equal(responseHeaders?.['x-request-id'], 'r-1');
    assert.equal(responseHeaders?.['set-cookie'], undefined);
  }
  await database.pool.query('update webhook_endpoint set previous_until = now() where id = $1', [
    created.body.id,
  ]);
  await owner.post(`${webhook}/test`, { kind: 'opened' });
  assert.equal(isSigned(received.at(-1), String(created.body.secret)), false);
  assert.deepEqual((await owner.get(`${webhook}/deliveries`)).body.items, []);
  assert.equal((await owner.post(`${webhook}/test`, { kind: 'redirected' })).status, 422);
  await owner.delete(webhook);
  assert.equal((await owner.post(`${webhook}/test`, { kind: 'opened' })).status, 404);
});

test('the log is newest first across its pages; an entry has its recipient, payload and tries; a period is replayed with progress', async () => {
  const webhook = await addWebhook(hook);
  const id = webhook.split('/').at(-1);
  await database.pool.query(
    `insert into webhook_delivery (account_id, endpoint_id, event_id, message_id, retention_days, kind, event_at, detail, state)
     select $1, $2, gen_random_uuid(), gen_random_uuid(), 30, 'delivered', now() - (60 - n) * interval '1 minute', '{}',
       case when n % 2 = 0 then 'delivered' else 'failed' end
     from generate_series(1, 25) n order by n`,
    [managed.shop.id, id],
  );
  const times: string[] = [];
  for (let cursor: unknown = ''; typeof cursor === 'string'; ) {
    const next = cursor === '' ? '' : `&cursor=${cursor}`;
    const { body } = await owner.get(`${webhook}/deliveries?limit=7${next}`);
    times.push(...(body.items as { at: string }[]).map(({ at }) => at));
    cursor = body.nextCursor;
  }
  assert.equal(times.length, 25);
  assert.deepEqual(times, times.toSorted().reverse());
  const sender = new SendClient(service, await getToken(service, managed.shop));
  const sent = await sender.send();
  const entry = await waitFor('the event', async () => {
    const { body } = await owner.get(`${webhook}/deliveries?messageId=${sent.body.messageId}`);
    const [first] = body.items as { eventId: string; state: string; address: string }[];
    return first?.state === 'delivered' && first;
  });
  const { body: detail } = await owner.get(`${webhook}/deliveries/${entry.eventId}`);
  assert.equal(JSON.parse(String(detail.request)).data.address, entry.address);
  const [latest] = detail.tries as {
    readonly status: number;
    readonly answer: string;
    readonly requestHeaders: Readonly<Record<string, string>>;
    readonly responseHeaders: Readonly<Record<string, string>>;
  }[];
  assert.deepEqual([latest?.status, latest?.answer], [202, 'ok']);
  assert.equal(latest?.requestHeaders['webhook-id'], entry.eventId);
  assert.equal(latest?.responseHeaders['x-request-id'], 'r-1');
  assert.equal(detail.nextAt, null);
  const before = received.length;
  const replay = (body: object) => owner.post(`${webhook}/replay`, body);
  const from = new Date(Date.now() - 3_600_000).toISOString();
  const until = new Date(Date.now() - 30 * 60_000).toISOString();
  const started = await replay({ from, until, state: 'failed' });
  assert.equal(started.status, 202, started.text);
  const progress = await waitFor('the replay', async () => {
    const { body } = await owner.get(`${webhook}/replays`);
    const [first] = body.items as { events: number; waiting: number; selectedAt: string | null }[];
    return first !== undefined && first.selectedAt !== null && first.waiting === 0 && first;
  });
  assert.equal(progress.events, 13);
  assert.equal(received.length - before, 13);
  assert.equal((await replay({ from: until, until: from })).status, 422);
  assert.equal((await replay({ eventId: entry.eventId, state: 'failed' })).status, 422);
  assert.equal((await owner.get(`${webhook}/deliveries/${crypto.randomUUID()}`)).status, 404);
  await owner.delete(webhook);
});

const sender = new SendClient(service, await getToken(service, managed.shop));

/** Creates a webhook in the format of a provider. @returns its path and what its receiver needs */
async function addFormatted(format: string, settings: object = {}): Promise<[string, string]> {
  const created = await owner.post(`${path}/webhooks`, {
    url: hook,
    kinds: ['delivered', 'bounced'],
    format,
    ...settings,
  });
  assert.equal(created.status, 201, created.text);
  return [`${path}/webhooks/${created.body.id}`, String(created.body.secret)];
}

/** Sends a test event of a bounce. */
async function receiveBounce(webhook: string): Promise<ReceivedRequest> {
  const { status, body, text } = await owner.post(`${webhook}/test`, { kind: 'bounced' });
  assert.equal(status, 200, text);
  const sent = received.at(-1);
  assert.ok(sent);
  assert.equal(sent.body, body.request);
  return sent;
}

const isTest = ({ body }: ReceivedRequest) => [JSON.parse(body)].flat()[0].test === true;

/** Whether a request has the signature or credentials of its format. */
const verifiers: Readonly<Record<string, (request: ReceivedRequest, secret: string) => boolean>> = {
  signalpost: isSigned,
  ses: isSigned,
  resend: ({ body, headers }, secret) => {
    const [id, timestamp, signature] = ['id', 'timestamp', 'signature'].map((name) =>
      String(headers[`svix-${name}`]),
    );
    return isSigned(
      {
        body,
        headers: {
          'webhook-id': id,
          'webhook-timestamp': timestamp,
          'webhook-signature': signature,
        },
      },
      secret,
    );
  },
  postmark: ({ headers }, secret) =>
    headers.authorization === `Basic ${Buffer.from(secret).toString('base64')}`,
  sendgrid: ({ body, headers }, secret) => {
    const name = 'x-twilio-email-event-webhook';
    const [time, signature] = [headers[`${name}-timestamp`], headers[`${name}-signature`]];
    return isFromSendgrid(body, String(time), String(signature), secret);
  },
  mailgun: ({ body }, secret) => isFromMailgun(JSON.parse(body), secret, Date.now()),
};

test('a webhook has the format and signature of a provider, and either secret for a day where the format signs twice', async () => {
  for (const format of webhookFormatNames) {
    const [webhook, secret] = await addFormatted(format);
    const verifies = verifiers[format];
    assert.ok(verifies, format);
    const before = await receiveBounce(webhook);
    assert.ok(isTest(before) && verifies(before, secret), format);
    const rotated = await owner.post(`${webhook}/secret`);
    assert.notEqual(rotated.body.secret, secret);
    const after = await receiveBounce(webhook);
    assert.ok(verifies(after, String(rotated.body.secret)), format);
    const signsTwice = ['signalpost', 'resend', 'ses'].includes(format);
    assert.equal(verifies(after, secret), signsTwice, format);
    const shown = await owner.get(webhook);
    assert.equal(shown.body.format, format);
    assert.equal(shown.body.previousUntil !== null, signsTwice);
    assert.equal(shown.body.publicKey, format === 'sendgrid' ? rotated.body.secret : null);
    await owner.delete(webhook);
  }
});

test('a delivery and its replay in a provider’s format tell of the message, with the same ID and their own signatures', async () => {
  const id: Readonly<Record<string, (request: ReceivedRequest) => unknown>> = {
    resend: ({ headers }) => headers['svix-id'],
    postmark: ({ headers }) => headers['webhook-id'],
    sendgrid: ({ body }) => JSON.parse(body)[0].sg_event_id,
    mailgun: ({ body }) => JSON.parse(body)['event-data'].id,
    ses: ({ headers }) => headers['webhook-id'],
  };
  for (const [format, idOf] of Object.entries(id)) {
    const [webhook, secret] = await addFormatted(format);
    const start = received.length;
    const { body } = await sender.send({
      body: bodyWith({ content: { subjectLine: 'Hi Ann' } }),
    });
    await waitFor('the event', () => received.length === start + 1);
    const log = await waitFor('the log', async () => {
      const answer = await owner.get(`${webhook}/deliveries?state=delivered`);
      return (answer.body.items as { eventId: string; lastRequest: string }[])[0];
    });
    await owner.post(`${webhook}/replay`, { eventId: log.eventId });
    await waitFor('the event again', () => received.length === start + 2);
    for (const request of received.slice(start)) {
      assert.equal(idOf(request), log.eventId, format);
      assert.ok(verifiers[format]?.(request, secret), format);
      assert.ok(request.body.includes(String(body.messageId)), format);
    }
    // A signature in the body isn't kept.
    const { signature: _, ...posted } = JSON.parse(received[start]?.body ?? '');
    assert.deepEqual(JSON.parse(log.lastRequest), format === 'sendgrid' ? [posted[0]] : posted);
    if (format !== 'sendgrid' && format !== 'postmark')
      assert.match(log.lastRequest, /Hi Ann/, format);
    await owner.delete(webhook);
  }
});

test('an event without a name in the format can’t be chosen, is not tested, and fails with the reason if it was', async () => {
  const refuse = async (settings: object, reason: RegExp) => {
    const refused = await owner.post(`${path}/webhooks`, { url: hook, ...settings });
    assert.equal(refused.status, 422);
    assert.match(refused.text, reason);
  };
  await refuse({ format: 'postmark', kinds: ['accepted', 'bounced'] }, /contain accepted in the/);
  await refuse({ format: 'mandrill', kinds: ['bounced'] }, /format/);
  await refuse({ kinds: ['bounced'], credentials: 'a:b' }, /only for the format postmark/);
  await refuse({ format: 'postmark', kinds: ['bounced'], credentials: 'ab' }, /credentials/);
  const [webhook] = await addFormatted('postmark');
  const changed = await owner.put(webhook, { url: hook, kinds: ['accepted'] });
  assert.equal(changed.status, 422, changed.text);
  assert.equal((await owner.post(`${webhook}/test`, { kind: 'accepted' })).status, 422);
  // As a process of a release without formats saves it.
  await database.pool.query(`update webhook_endpoint set kinds = '{accepted}' where id = $1`, [
    webhook.split('/').at(-1),
  ]);
  const start = received.length;
  await sender.send();
  const failed = await waitFor('the event to fail', async () => {
    const { body } = await owner.get(`${webhook}/deliveries?state=failed`);
    return (body.items as { eventId: string; lastAnswer: string }[])[0];
  });
  assert.equal(failed.lastAnswer, 'not sent: the format postmark has no such event');
  assert.equal((await owner.get(`${webhook}/deliveries/${failed.eventId}`)).body.request, '');
  assert.equal(received.length, start);
  await owner.delete(webhook);
});

test('ASVS 4.0.3 8.3.4: Basic credentials are in no answer, log or audit entry, and don’t follow a webhook to another URL', async () => {
  const credentials = 'ann:correct horse';
  const basic = Buffer.from(credentials).toString('base64');
  const [webhook, shown] = await addFormatted('postmark', { credentials });
  assert.equal(shown, credentials);
  const { headers } = await receiveBounce(webhook);
  assert.equal(headers.authorization, `Basic ${basic}`);
  await sender.send();
  const { eventId } = await waitFor('the event', async () => {
    const { body } = await owner.get(`${webhook}/deliveries?state=delivered`);
    return (body.items as { eventId: string }[])[0];
  });
  const kinds = ['bounced'];
  const replaced = await owner.put(webhook, { url: hook, kinds, credentials: 'ann:staple' });
  assert.equal(replaced.status, 200, replaced.text);
  const [audited] = (await owner.get(`${path}/audit?limit=1`)).body.items as {
    detail: { changed: string };
  }[];
  assert.match(String(audited?.detail.changed), /credentials/);
  await owner.put(webhook, { url: hook, kinds, credentials });
  for (const answer of await Promise.all([
    owner.get(webhook),
    owner.get(`${path}/webhooks`),
    owner.get(`${webhook}/deliveries/${eventId}`),
    owner.post(`${webhook}/test`, { kind: 'bounced' }),
    owner.get(`${path}/audit?limit=9`),
  ])) {
    assert.equal(answer.status, 200, answer.text);
    assert.doesNotMatch(answer.text, new RegExp(`correct horse|staple|${basic}|authorization`));
  }
  await owner.put(webhook, { url: hook, kinds: ['delivered'] });
  assert.equal((await receiveBounce(webhook)).headers.authorization, `Basic ${basic}`);
  await owner.put(webhook, { url: `${hook}/elsewhere`, kinds });
  const elsewhere = (await receiveBounce(webhook)).headers.authorization ?? '';
  assert.match(Buffer.from(elsewhere.slice(6), 'base64').toString(), /^signalpost:[\w-]{32}$/);
  await owner.delete(webhook);
});

test('another format keeps a secret that it can use, and never sends one of ours as a password', async () => {
  const [webhook, secret] = await addFormatted('signalpost');
  const change = (format?: string) => owner.put(webhook, { url: hook, kinds: ['bounced'], format });
  for (const format of ['resend', 'mailgun', 'ses', 'signalpost']) {
    assert.equal((await change(format)).body.format, format);
    assert.ok(verifiers[format]?.(await receiveBounce(webhook), secret), format);
  }
  const { body } = await change('sendgrid');
  assert.ok(verifiers.sendgrid?.(await receiveBounce(webhook), String(body.publicKey)));
  assert.equal((await change()).body.format, 'sendgrid');
  await change('postmark');
  const { authorization = '' } = (await receiveBounce(webhook)).headers;
  assert.doesNotMatch(Buffer.from(authorization.slice(6), 'base64').toString(), /whsec_/);
  await change('signalpost');
  assert.equal(isSigned(await receiveBounce(webhook), secret), false);
  const fresh = await owner.post(`${webhook}/secret`);
  assert.ok(isSigned(await receiveBounce(webhook), String(fresh.body.secret)));
  await owner.delete(webhook);
});

test('an account has at most 50 webhooks, listed newest first with their newest event', async () => {
  for (let count = 0; count < 50; count += 1) await addWebhook(`https://hooks.example/${count}`);
  const refused = await owner.post(`${path}/webhooks`, { url: hook, kinds: ['opened'] });
  assert.equal(refused.status, 409);
  assert.match(refused.text, /can have 50 webhooks/);
  const { body } = await owner.get(`${path}/webhooks`);
  const items = body.items as { url: string; latest: unknown }[];
  assert.equal(items.length, 50);
  assert.deepEqual([items[0]?.url, items[0]?.latest], ['https://hooks.example/49', null]);
});

test('the audit log names webhooks by their URL, without the query, which may have a secret', async () => {
  const { body } = await owner.get(`${path}/webhooks`);
  const [last] = body.items as { id: string }[];
  await owner.delete(`${path}/webhooks/${last?.id}`);
  const webhook = await addWebhook('https://hooks.example/audited?token=secret');
  const id = webhook.split('/').at(-1);
  await owner.post(`${webhook}/pause`);
  await owner.post(`${webhook}/resume`);
  await owner.post(`${webhook}/secret`);
  await owner.put(webhook, {
    url: 'https://hooks.example/audited?token=secret',
    kinds: ['opened'],
  });
  await owner.delete(webhook);
  const log = await owner.get(`${path}/audit?limit=6`);
  const events = log.body.items as { kind: string; detail: { id: string; name: string } }[];
  assert.deepEqual(
    events.map(({ kind, detail }) => [kind, detail.id, detail.name]),
    ['removed', 'changed', 'secret_rotated', 'resumed', 'paused', 'created'].map((action) => [
      `webhook_${action}`,
      id,
      'https://hooks.example/audited',
    ]),
  );
  assert.doesNotMatch(log.text, /secret=|token=/);
});
