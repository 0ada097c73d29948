import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressesIn } from '../support/feedback-shop.ts';
import { readInbox } from '../support/inbox-client.ts';
import { OtlpCollector } from '../support/otlp-collector.ts';
import { bodyWith, SendClient } from '../support/send-client.ts';
import { sendRequest } from '../support/send-request.ts';
import { metricsHeaders } from '../support/service-tokens.ts';
import { getToken, openShop, publishShopTemplate } from '../support/shop.ts';
import { openTestShop } from '../support/test-shop.ts';
import { waitFor } from '../support/wait-for.ts';
import { WebhookReceiver } from '../support/webhook-receiver.ts';

const collector = await OtlpCollector.open();
const log: string[] = [];
const world = await openTestShop({
  environment: {
    LOG_LEVEL: 'debug',
    LOG_MESSAGES: '1',
    LOG_ACCESS: '1',
    LOG_AUDIT: '1',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    WEBHOOK_NETWORKS: '127.0.0.0/8',
  },
  logTo: (line) => log.push(line),
});
const { database, owner, path, shop, client, service } = world;
const target = 'https://auth.shop.test/reset?token=SECRET-TARGET';
const html = '<a href="{{Reset URL}}">Reset</a>';
const fields = { 'Reset URL': { guard: true } };

const publish = (of: Parameters<typeof publishShopTemplate>[1], source: object = {}) =>
  publishShopTemplate(database, of, {
    id: 'reset',
    sender: 'orders@shop.test',
    source: { subject: 'Reset', previewText: '', html, fields, ...source },
  });
await publish(shop);

let count = 0;
/** Sends with a client and returns the message's ID and the token of its link. */
async function send(sender = client, template = 'reset') {
  count += 1;
  const to = `g${count}@people.test`;
  const content = { personalizationDataMap: { 'Reset URL': target } };
  const id = await sender.accept({
    template,
    body: bodyWith({ envelope: { toAddress: to }, content }),
  });
  const [mail] = await readInbox(service.url, `?to=${to}&wait=60`);
  const [link = ''] = addressesIn(mail?.html ?? '', 'href');
  return { id, to, link, token: link.slice(link.lastIndexOf('/') + 1) };
}

const press = (token: string) =>
  sendRequest(`${service.url}/g/${token}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'continue=1',
  });

test('ASVS 4.0.3 5.1.5, CWE-601: no other token than one that was made here leads anywhere', async () => {
  const { token } = await send();
  assert.equal((await press(token)).status, 303);
  const bytes = Buffer.from(token, 'base64url');
  const forged: string[] = [];
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
    forged.push(changed.toString('base64url'));
  }
  for (let length = 0; length < bytes.length; length += 7)
    forged.push(bytes.subarray(0, length).toString('base64url'));
  forged.push(
    `${token}A`,
    `${token}=`,
    `A${token}`,
    token.toUpperCase(),
    Buffer.concat([bytes, bytes]).toString('base64url'),
    Buffer.concat([Buffer.alloc(16), bytes.subarray(16)]).toString('base64url'),
    Buffer.from(`https://evil.test/`).toString('base64url'),
    'x'.repeat(5_001),
    '%00',
    '..%2F..%2Fetc',
  );
  for (const each of forged) {
    const answer = await press(each);
    assert.notEqual(answer.status, 303, each);
    assert.equal(answer.headers.get('location'), null, each);
    assert.doesNotMatch(answer.text, /SECRET-TARGET/);
  }
});

test('ASVS 4.0.3 4.2.1: a token is bound to its account and message', async () => {
  const other = await openShop(database, { id: '46200' });
  await publish(other);
  const stranger = new SendClient(service, await getToken(service, other), other.id);
  const [mine, theirs] = [await send(), await send(stranger)];
  // The halves of two tokens make none.
  const halves = (token: string) => {
    const bytes = Buffer.from(token, 'base64url');
    return [bytes.subarray(0, 60), bytes.subarray(60)] as const;
  };
  const [[head], [, tail]] = [halves(mine.token), halves(theirs.token)];
  assert.equal((await press(Buffer.concat([head, tail]).toString('base64url'))).status, 404);

  const revoke = (account: string, id: string) =>
    owner.post(`/manage/v1/accounts/${account}/messages/${id}/revoke-links`, {});
  assert.equal((await revoke(other.id, theirs.id)).status, 404);
  assert.equal((await revoke(shop.id, theirs.id)).status, 404);
  assert.equal((await press(theirs.token)).status, 303);
});

test('ASVS 4.0.3 8.3.4: revoked links say so, once and for all attempts, and the timeline shows it', async () => {
  const { id, token } = await send();
  const url = `${path}/messages/${id}/revoke-links`;
  const viewer = await world.as('viewer');
  assert.equal((await viewer.post(url, {})).status, 403);
  assert.equal((await press(token)).status, 303);
  assert.deepEqual((await owner.post(url, {})).body, { changed: true });
  assert.deepEqual((await owner.post(url, {})).body, { changed: false });
  const ended = await press(token);
  assert.equal(ended.status, 410);
  assert.match(ended.text, /no longer works/);
  const page = await sendRequest(`${service.url}/g/${token}`);
  assert.equal(page.status, 410);
  const { body } = await owner.get(`${path}/messages/${id}`);
  const kinds = (body.events as { kind: string }[]).map(({ kind }) => kind);
  assert.deepEqual(
    kinds.filter((kind) => kind.startsWith('link')),
    ['link-confirmed', 'links-revoked'],
  );
  const plain = await client.accept();
  assert.equal((await owner.post(`${path}/messages/${plain}/revoke-links`, {})).status, 409);
});

test('ASVS 4.0.3 6.1.1: no table has the target of a message, before it is sent and after', async () => {
  const queued = await openShop(database, { id: '46300' });
  await publish(queued);
  await database.pool.query(
    `insert into delivery_pause (account_id, destination, paused_at) values ($1, '*', now())`,
    [queued.id],
  );
  const sender = new SendClient(service, await getToken(service, queued), queued.id);
  const content = { personalizationDataMap: { 'Reset URL': target } };
  const body = bodyWith({ content });
  await sender.accept({ template: 'reset', body, headers: { 'idempotency-key': 'once' } });
  await send();
  const { rows: tables } = await database.pool.query<{ name: string }>(
    `select quote_ident(relname) as name from pg_class
     where relkind in ('r', 'p', 'm') and not relispartition and relnamespace = current_schema()::regnamespace`,
  );
  assert.ok(tables.length > 50, String(tables.length));
  for (const { name } of tables) {
    const found = await database.pool.query(
      `select 1 from ${name} as t where t::text like '%SECRET-TARGET%' or t::text like $1 limit 1`,
      [`%${Buffer.from('SECRET-TARGET').toString('hex')}%`],
    );
    assert.equal(found.rowCount, 0, name);
  }
  const { rows } = await database.pool.query<{ value: string }>(
    `select content -> 'values' ->> 'Reset URL' as value from message where account_id = $1`,
    [queued.id],
  );
  assert.match(rows[0]?.value ?? '', /^[A-Za-z0-9_-]{100,}$/);
  const { body: shown } = await owner.get(`${path}/messages?limit=5`);
  assert.doesNotMatch(JSON.stringify(shown), /SECRET-TARGET|\/g\//);
});

test('ASVS 4.0.3 7.1.1, 8.3.4: no log, trace, metric, export, search or webhook has the target', async () => {
  const receiver = await WebhookReceiver.open();
  const kinds = ['delivered', 'link-confirmed', 'link-scanned'];
  const hook = await owner.post(`${path}/webhooks`, { url: receiver.url, kinds });
  assert.equal(hook.status, 201, hook.text);
  const { id, to, token } = await send();
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const link = `${service.url}/g/${token}`;
  assert.equal((await sendRequest(link, { headers: { traceparent } })).status, 200);
  const pressed = await press(token);
  assert.equal(pressed.headers.get('location'), target);
  const refused = await client.send({
    template: 'reset',
    body: bodyWith({ content: { personalizationDataMap: { 'Reset URL': `x${target}` } } }),
  });
  assert.equal(refused.status, 400);
  const types = await waitFor('the webhooks', () => {
    const sent = receiver.received.filter(({ text }) => text.includes(id));
    return sent.length >= kinds.length && sent.map(({ body }) => body.type);
  });
  assert.deepEqual(
    types.toSorted(),
    kinds.map((kind) => `message.${kind}`),
  );
  await waitFor('the spans', () => collector.text.includes(id));
  await waitFor('the lines', () => log.some((line) => line.includes(id)));
  await waitFor('the search', async () =>
    (await owner.get(`${path}/messages?search=${id}`)).text.includes(id),
  );

  const webhook = `${path}/webhooks/${hook.body.id}`;
  const shown = await Promise.all(
    [
      '/messages-export',
      `/messages?search=${id}`,
      `/messages/${id}`,
      `/people/${to}`,
      '/audit-export',
      '/suppressions-export',
      '/reports-export?group=template&from=2026-01-01T00:00:00Z&until=2026-12-31T00:00:00Z',
      '/events',
    ].map((part) => owner.get(`${path}${part}`)),
  );
  const deliveries = await owner.get(`${webhook}/deliveries`);
  const { items } = deliveries.body as { items: { eventId: string }[] };
  const details = await Promise.all(
    items.map(({ eventId }) => owner.get(`${webhook}/deliveries/${eventId}`)),
  );
  const metrics = await sendRequest(`${service.url}/metrics`, { headers: metricsHeaders });
  const answers = [...shown, deliveries, ...details, metrics];
  for (const { status, text } of answers) assert.equal(status, 200, text);
  // What was looked at has the message.
  for (const { text } of shown.slice(0, 4)) assert.ok(text.includes(id), text.slice(0, 300));
  const found = await owner.get(`${path}/messages?search=SECRET-TARGET`);
  assert.deepEqual(found.body.items, []);

  const texts = [
    ...[...answers, refused].map(({ text }) => text),
    ...receiver.received.map(({ text }) => text),
    ...log,
    collector.text,
  ];
  for (const text of texts) assert.doesNotMatch(text, /SECRET-TARGET|auth\.shop\.test/);
  // Whoever has the link can use it.
  const open = texts.filter((text) => text.includes(token));
  assert.deepEqual(open, []);
});

test('ASVS 4.0.3 8.3.2: the erasure of a person ends their links', async () => {
  const { to, token } = await send();
  assert.equal((await press(token)).status, 303);
  const erased = await owner.delete(`${path}/people/${to}`);
  assert.ok(erased.status < 300, erased.text);
  assert.equal((await press(token)).status, 410);
});

test('a guarded value is masked in what the management API shows, and its link isn’t shown', async () => {
  const { id, token } = await send();
  for (const part of ['', '/rendered']) {
    const { status, text } = await owner.get(`${path}/messages/${id}${part}`);
    if (status === 200) assert.ok(!text.includes(token.slice(0, 30)), part);
  }
});
