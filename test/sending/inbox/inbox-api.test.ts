import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { createTransport } from 'nodemailer';
import { clearInbox, readInbox } from '../../support/inbox-client.ts';
import { sendRequest } from '../../support/send-request.ts';
import { inboxHeaders } from '../../support/service-tokens.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { startTestService } from '../../support/test-service.ts';
import { waitFor } from '../../support/wait-for.ts';

const { url: databaseUrl } = await createTestDatabase();
const service = await startTestService({ databaseUrl });
const otherNode = await startTestService({ databaseUrl });
const api = `${service.url}/inbox/api/messages`;
const transport = createTransport({
  host: '127.0.0.1',
  port: service.app.inboxPort(),
  pool: true,
});
after(() => transport.close());

const captured = (query = '', url = service.url) => readInbox(url, query);

async function subjects(query = ''): Promise<string[]> {
  return (await captured(query)).map(({ subject }) => subject);
}

function send(to: string, subject = 'Hello'): Promise<unknown> {
  return transport.sendMail({ from: 'Shop <orders@shop.test>', to, subject, text: 'Good day' });
}

const askWith = (method: string, query = '') =>
  sendRequest(`${api}${query}`, { method, headers: inboxHeaders });

beforeEach(() => clearInbox(service.url));

test('a message received by SMTP is returned completely', async () => {
  await transport.sendMail({
    envelope: { from: 'bounces@shop.test', to: ['reader@example.test', 'boss@example.test'] },
    from: { name: 'Käse & Söhne', address: 'orders@shop.test' },
    to: 'Zoë <reader@example.test>',
    cc: 'boss@example.test',
    subject: 'Ihre Bestellung № 7 🧀',
    text: 'Danke!\nBis bald.',
    html: '<p>Danke!</p>',
    headers: { 'X-Trace': ['one', 'zwölf'] },
  });
  const [message, ...rest] = await captured();
  assert.ok(message);
  assert.deepEqual(rest, []);
  assert.match(message.id, /^[0-9a-f-]{36}$/);
  assert.ok(Math.abs(Date.parse(message.receivedAt) - Date.now()) < 60_000);
  assert.equal(message.envelopeFrom, 'bounces@shop.test');
  assert.deepEqual(message.envelopeTo, ['reader@example.test', 'boss@example.test']);
  assert.equal(message.subject, 'Ihre Bestellung № 7 🧀');
  assert.equal(message.text, 'Danke!\nBis bald.');
  assert.equal(message.html, '<p>Danke!</p>');
  assert.deepEqual(message.headers.from, ['Käse & Söhne <orders@shop.test>']);
  assert.deepEqual(message.headers.subject, [message.subject]);
  assert.deepEqual(message.headers['x-trace'], ['one', 'zwölf']);
  assert.match(message.source, /^From: =\?UTF-8\?/m);
  assert.deepEqual(Object.keys(message), [
    'id',
    'receivedAt',
    'envelopeFrom',
    'envelopeTo',
    'headers',
    'subject',
    'html',
    'text',
    'unread',
    'source',
  ]);
});

test('messages are returned newest first, up to the limit', async () => {
  for (const subject of ['first', 'second', 'third']) await send('a@example.test', subject);
  assert.deepEqual(await subjects(), ['third', 'second', 'first']);
  assert.deepEqual(await subjects('?limit=1'), ['third']);
});

test('to matches an envelope recipient exactly, ignoring case', async () => {
  await transport.sendMail({
    envelope: { from: 's@shop.test', to: ['A.Reader@Example.Test', 'hidden@example.test'] },
    to: 'A.Reader@Example.Test',
    text: 'x',
  });
  await send('axreader@example.test');
  assert.equal((await captured('?to=a.reader@example.test')).length, 1);
  assert.equal((await captured('?to=HIDDEN@example.test')).length, 1);
  assert.equal((await captured('?to=%25@example.test')).length, 0);
  assert.equal((await captured('?TO=reader@example.test')).length, 0);
});

test('an international domain is found in either form', async () => {
  await send('reader@xn--mnchen-3ya.example');
  assert.equal((await captured('?to=reader@m%C3%BCnchen.example')).length, 1);
  assert.equal((await captured('?to=reader@xn--mnchen-3ya.example')).length, 1);
});

test('since excludes earlier messages', async () => {
  await send('a@example.test', 'old');
  const [old] = await captured();
  await waitFor('a later millisecond', () => Date.now() > Date.parse(old?.receivedAt ?? '') + 1);
  const since = new Date().toISOString();
  await send('a@example.test', 'new');
  assert.deepEqual(await subjects(`?since=${since}`), ['new']);
});

test('wait returns as soon as the message arrives, and ignores other recipients', async () => {
  const started = performance.now();
  const waiting = subjects('?to=Late@example.test&wait=30');
  await send('other@example.test', 'other');
  await send('late@example.test', 'late');
  assert.deepEqual(await waiting, ['late']);
  assert.ok(performance.now() - started < 25_000, 'before the wait ends');
});

test('wait notices mail received by another node', async () => {
  const started = performance.now();
  const waiting = captured('?to=late@example.test&wait=30', otherNode.url);
  await send('late@example.test', 'late');
  assert.equal((await waiting)[0]?.subject, 'late');
  assert.ok(performance.now() - started < 25_000, 'before the wait ends');
});

test('wait ends with an empty list', async () => {
  const started = performance.now();
  assert.deepEqual(await captured('?to=nobody@example.test&wait=1'), []);
  assert.ok(performance.now() - started >= 990);
});

test('stopping the service ends waiting requests with a response', async () => {
  const third = await startTestService({ databaseUrl });
  let open = 0;
  third.app.http.server.on('request', () => {
    open += 1;
  });
  const waiting = captured('?wait=60', third.url);
  await waitFor('the request', () => open > 0);
  await third.stop();
  assert.deepEqual(await waiting, []);
});

test('a wrong parameter gets a 400 that names it', async () => {
  const wrong: [string, string][] = [
    ['?wait=soon', 'wait'],
    ['?wait=-1', 'wait'],
    ['?wait=121', 'wait'],
    ['?wait=', 'wait'],
    ['?limit=0', 'limit'],
    ['?limit=201', 'limit'],
    ['?to=', 'to'],
    ['?to=reader', 'to'],
    ['?to=a%00@b.test', 'to'],
    ['?to=a@b.test&to=c@d.test', 'to'],
    ['?to=a@b.test&TO=c@d.test', 'to'],
    ['?since=yesterday', 'since'],
    ['?since=2030-13-45T00:00:00Z', 'since'],
    ['?since=2026-02-30T14:00:00Z', 'since'],
    ['?recipient=a@b.test', 'recipient'],
  ];
  for (const [query, parameter] of wrong) {
    const { status, body } = await askWith('GET', query);
    assert.equal(status, 400, query);
    assert.equal(body.parameter, parameter, query);
    assert.ok(String(body.message).startsWith(parameter), query);
    assert.equal(typeof body.requestId, 'string');
  }
});

test("DELETE empties the inbox, or removes one recipient's mail", async () => {
  await send('a@example.test');
  await send('b@example.test');
  assert.equal((await askWith('DELETE', '?to=A@example.test')).status, 204);
  const [left, ...others] = await captured();
  assert.deepEqual(left?.envelopeTo, ['b@example.test']);
  assert.deepEqual(others, []);
  assert.equal((await askWith('DELETE', '?from=x')).status, 400);
  const { status, text } = await askWith('DELETE');
  assert.deepEqual({ status, text }, { status: 204, text: '' });
  assert.deepEqual(await captured(), []);
});

test('responses are neither cached nor sniffed as another type', async () => {
  const { headers } = await askWith('GET');
  assert.equal(headers.get('cache-control'), 'no-store');
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  assert.match(headers.get('content-type') ?? '', /^application\/json/);
  assert.ok(headers.get('x-request-id'));
});

test('without DELIVERY=inbox, every inbox path is a 404 that says why', async () => {
  const relaying = await startTestService({
    databaseUrl,
    environment: { SMTP_URL: 'smtp://127.0.0.1:1' },
  });
  for (const path of ['/inbox', '/inbox/', '/inbox/api/messages', '/inbox/assets/x']) {
    const { status, body } = await sendRequest(`${relaying.url}${path}`);
    assert.equal(status, 404, path);
    assert.match(String(body.message), /DELIVERY=inbox/);
  }
  assert.equal(relaying.app.inboxPort(), undefined);
});
