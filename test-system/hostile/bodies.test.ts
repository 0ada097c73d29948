import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { saveMembership } from '../../src/accounts/account/membership-store.ts';
import { setOperator } from '../../src/accounts/account/person-store.ts';
import { policies } from '../../src/base/fairness/policies.ts';
import { createLog } from '../../src/base/values/log.ts';
import { dropInLimits } from '../../src/drop-in/drop-ins.ts';
import { type DropInName, dropInNames } from '../../src/drop-in/provider/drop-in.ts';
import { createHttp } from '../../src/host/http/create-http.ts';
import {
  formatBytes,
  kibibyte,
  mebibyte,
  type RouteLimit,
  routeLimits,
} from '../../src/host/http/limits/route-limits.ts';
import { managementLimits } from '../../src/operating/management/management-limits.ts';
import { addKey, addSigningKey } from '../../test/support/api-key.ts';
import {
  behindProxy,
  forwardedFrom,
  openRawRequest,
  type RawConversation,
} from '../../test/support/raw-connection.ts';
import { rawRequest } from '../../test/support/raw-request.ts';
import { goodBody } from '../../test/support/send-client.ts';
import { sendRequest } from '../../test/support/send-request.ts';
import { getToken, openShop } from '../../test/support/shop.ts';
import { signIn } from '../../test/support/sign-in.ts';
import { signRequest } from '../../test/support/sign-request.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { testRoute } from '../../test/support/test-route.ts';
import { startTestService, type TestService, testKey } from '../../test/support/test-service.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const { database, url } = await createTestDatabase();
// With attachments, the send operation's limit would be that of the account.
const shop = await openShop(database, { attachmentLimit: 0 });
await saveMembership(database.kysely, {
  accountId: shop.id,
  personId: shop.owner.id,
  role: 'owner',
});
await setOperator(database.kysely, shop.owner.id, true);
const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const start = (environment: Readonly<Record<string, string>>): Promise<TestService> =>
  startTestService({
    databaseUrl: url,
    worker: false,
    environment: { ...behindProxy, ...environment },
  });
/** A service with the intakes of all relays configured. */
const service = await start({
  INTAKE_SNS_TOPICS: 'arn:aws:sns:eu-west-1:1:reports',
  INTAKE_POSTMARK_PASSWORD: 'secret',
  INTAKE_MAILGUN_KEY: 'mailgun key',
  INTAKE_SENDGRID_KEY: publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
});
/** A service without any intake. */
const bare = await start({});
const token = await getToken(service, shop);
const key = await addKey(database, shop.id);
const signing = await addSigningKey(database, testKey, shop.id);
const table: readonly RouteLimit[] = [...routeLimits, ...dropInLimits, ...managementLimits];
const json = { 'content-type': 'application/json' };
const intakes = ['ses', 'postmark', 'mailgun', 'sendgrid'].map((relay) => `/intake/${relay}`);

const answered = (talk: RawConversation): Promise<string> =>
  waitFor('an answer', () => /^HTTP\/1\.1 (\d{3})/.exec(talk.text())?.[1]);

/** Sends a request that announces a body and never sends it. */
async function announce(
  base: string,
  path: string,
  bytes: number,
  headers: Readonly<Record<string, string>> = {},
): Promise<RawConversation> {
  const head = { path, headers: { ...json, 'content-length': String(bytes), ...headers } };
  return openRawRequest(base, head);
}

test('ASVS 4.0.3 13.2.1: every entry in the table of limits has a route', () => {
  const { http } = service.app;
  for (const { methods, path } of table)
    for (const method of methods as 'GET'[]) {
      assert.ok(http.hasRoute({ method, url: path }), `${method} ${path} is registered`);
    }
});

test('ASVS 4.0.3 13.2.1: a route without an entry, or with a different method, can’t be registered', () => {
  const http = createHttp({
    log: createLog('silent'),
    trustProxy: [],
    routes: [testRoute('GET', '/known')],
  });
  http.get('/known', () => 'x');
  for (const [method, path] of [
    ['GET', '/unknown'],
    ['POST', '/known'],
    ['GET', '/known/more'],
  ] as const)
    assert.throws(
      () => http.route({ method, url: path, handler: () => 'x' }),
      /missing from the table of limits/,
    );
  assert.throws(
    () => http.direct.post('/direct/', 'x', async () => undefined),
    /missing from the table of limits/,
  );
});

/** The status of a provider for a body that is too large. */
const refusedBody: Readonly<Record<DropInName, number>> = {
  resend: 422,
  postmark: 422,
  sendgrid: 400,
  ses: 400,
  mailgun: 400,
};

/** A path with a plausible value for each parameter. */
function fill(path: string): string {
  const names: Readonly<Record<string, string>> = {
    accountId: shop.id,
    templateId: 't-0001',
    listId: 'l-1',
    clientId: 'client',
    domain: 'shop.test',
    destination: 'shop.test',
    receiver: 'shop.test',
    email: 'ann@shop.test',
    address: 'ann@shop.test',
    token: 'x',
    mailKind: 'invitation',
    sha256: 'a'.repeat(64),
  };
  return path
    .replace('email/*', `email/${shop.id}/t-0001`)
    .replaceAll(
      /:(\w+)/g,
      (_all, name: string) => names[name] ?? '01a20a6f-2c7b-7562-9b87-690be7af4e61',
    );
}

test('ASVS 4.0.3 13.1.1: every route rejects a body one byte over its limit before receiving it, naming the limit', async () => {
  const cookie = await signIn(service, shop.owner.email);
  const basic = `Basic ${Buffer.from('x:secret').toString('base64')}`;
  for (const { methods, path, bodyBytes, streamed } of table)
    for (const method of methods) {
      if (method === 'GET') continue;
      const type = /^\/manage|\/batch$/.test(path)
        ? json
        : { 'content-type': 'application/x-www-form-urlencoded' };
      const dropIn = dropInNames.find((name) => `${path}/`.startsWith(`/${name}/`));
      const send = path.startsWith('/ete') || dropIn !== undefined;
      const credential = dropIn !== undefined || path.endsWith('/:accountId') ? key : token;
      const response = await rawRequest(service.url + fill(path), {
        method,
        headers: {
          ...(streamed ? { 'content-type': 'text/csv' } : type),
          'content-length': String(bodyBytes + 1),
          ...(send
            ? { authorization: `Bearer ${credential}` }
            : { cookie, 'x-signalpost-request': '1' }),
          ...(path === '/intake/postmark' && { authorization: basic }),
          'x-postmark-server-token': key,
          'x-twilio-email-event-webhook-timestamp': '1',
          'x-twilio-email-event-webhook-signature': 'x',
          ...(dropIn === 'mailgun' && { authorization: `Basic ${btoa(`api:${key}`)}` }),
          ...(dropIn === 'ses' &&
            signRequest({ method, url: service.url + fill(path), body: '' }, signing)),
        },
      });
      const what = `${method} ${path}: ${response.status} ${response.text.slice(0, 300)}`;
      if (dropIn !== undefined) {
        // What isn't a call of the provider is refused as such, whatever its body.
        assert.equal(response.status, path.endsWith('*') ? 404 : refusedBody[dropIn], what);
        assert.ok(path.endsWith('*') || response.text.includes(formatBytes(bodyBytes)), what);
        continue;
      }
      // OAuth and the contract have no separate status for it.
      const other = send || ['/token', '/revoke', '/introspect'].includes(path);
      assert.equal(response.status, other ? 400 : 413, what);
      assert.ok(response.text.includes(formatBytes(bodyBytes)), what);
    }
});

test('ASVS 4.0.3 13.1.1: a body without Content-Length is cut off at the limit', async () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  for (const [path, limit, status, headers] of [
    ['/token', 4 * kibibyte, 400, form],
    ['/sign-in', 4 * kibibyte, 413, form],
    ['/authorize', 16 * kibibyte, 413, form],
    ['/u/x', 4 * kibibyte, 413, { 'content-type': 'multipart/form-data' }],
    ['/intake/mailgun', mebibyte, 413, json],
    ['/manage/v1/set-up', 4 * kibibyte, 413, json],
    [
      `/ete/v1/email/${shop.id}/t-0001`,
      256 * kibibyte,
      400,
      { ...json, authorization: `Bearer ${token}` },
    ],
    [
      `/ete/v1/email/${shop.id}/t-0001/batch`,
      10 * mebibyte,
      400,
      { ...json, authorization: `Bearer ${token}` },
    ],
  ] as const) {
    const talk = await openRawRequest(service.url, {
      path,
      headers: { 'transfer-encoding': 'chunked', ...headers },
    });
    talk.socket.write(`${(limit + 1).toString(16)}\r\n${'['.repeat(limit + 1)}`);
    assert.equal(await answered(talk), String(status), `${path}: ${talk.text()}`);
    assert.ok(talk.text().includes(`larger than ${formatBytes(limit)}`), path);
    talk.socket.destroy();
  }
  await waitFor('memory', () => service.app.http.bodyTraffic.bytes === 0);
});

test('ASVS 4.0.3 13.1.3: eight anonymous 4 MiB bodies to /set-up are rejected by their headers', async () => {
  const talks = await Promise.all(
    Array.from({ length: 8 }, () => announce(bare.url, '/manage/v1/set-up', 4 * mebibyte)),
  );
  for (const talk of talks) assert.equal(await answered(talk), '413');
  assert.equal(bare.app.http.bodyTraffic.bytes, 0);
  for (const talk of talks) talk.socket.destroy();
});

test('ASVS 4.0.3 13.1.3: intakes that are not configured do not exist: 150 bodies are refused unread', async () => {
  const talks = await Promise.all(
    Array.from({ length: 150 }, (_, at) => announce(bare.url, intakes[at % 4] ?? '', 4 * mebibyte)),
  );
  for (const talk of talks) assert.equal(await answered(talk), '404');
  assert.equal(bare.app.http.bodyTraffic.bytes, 0);
  for (const talk of talks) talk.socket.destroy();
});

test('ASVS 4.0.3 13.1.3: unknown, forbidden and unauthenticated requests get a response before their body arrives', async () => {
  const bearer = { authorization: `Bearer ${token}` };
  for (const [path, status, headers] of [
    ['/nowhere', 404, {}],
    ['/manage/v1/nowhere', 404, {}],
    ['/api/1/list', 405, {}],
    ['/manage/v1/me', 405, {}],
    ['/intake/postmark', 401, {}],
    ['/intake/sendgrid', 401, {}],
    [`/manage/v1/accounts/${shop.id}/keys`, 401, {}],
    [`/ete/v1/email/${shop.id}/t-0001`, 401, {}],
    [`/ete/v1/email/${shop.id}/t-0001/batch`, 401, {}],
    [`/ete/v1/email/none/t-0001/batch`, 400, bearer],
    [`/ete/v1/email/${shop.id}/none/batch`, 400, bearer],
    [`/ete/v1/email/${shop.id}/t-0001/batch`, 400, { ...bearer, 'idempotency-key': 'x' }],
    [`/ete/v1/email/${shop.id}/t-0001/batch`, 400, { ...bearer, 'content-type': 'text/plain' }],
    ['/token', 400, {}],
  ] as const) {
    const talk = await announce(service.url, path, 4_096, headers);
    assert.equal(await answered(talk), String(status), `${path}: ${talk.text()}`);
    talk.socket.destroy();
  }
});

/** Sends a body without its end, so that it stays in the service's memory until the connection ends. */
async function holdBody(address: string, bytes: number): Promise<RawConversation> {
  const talk = await announce(service.url, '/intake/mailgun', bytes, forwardedFrom(address));
  talk.socket.write(Buffer.alloc(bytes - 1, '['));
  return talk;
}

/** Fills the strangers' memory as far as the networks get, and keeps time from passing, which would make bodies slow. */
async function fillMemory(t: TestContext, addresses: readonly string[], bodies: number) {
  t.mock.method(performance, 'now', () => 0);
  const { bodyTraffic } = service.app.http;
  const held: RawConversation[] = [];
  for (const address of addresses)
    for (let at = 0; at < bodies; at += 1) held.push(await holdBody(address, mebibyte));
  await waitFor('the bodies', () => bodyTraffic.bytes === held.length * (mebibyte - 1));
  return {
    held,
    async free(): Promise<void> {
      for (const talk of held) talk.socket.destroy();
      await waitFor('memory', () => bodyTraffic.bytes === 0);
    },
  };
}

const { total, share, reserve } = policies.strangersBodies;
const networks = [1, 2, 3, 4].map((network) => `192.0.${network}.1`);

test('ASVS 4.0.3 11.1.4: unfinished bodies of strangers keep out no other stranger, and no tenant', async (t) => {
  const { held, free } = await fillMemory(t, networks, share / mebibyte);
  const same = await holdBody('192.0.1.1', mebibyte);
  assert.equal(await answered(same), '503');
  assert.match(same.text(), /retry-after: 1\r\n/i);
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  for (let at = 1; at <= 8; at += 1) {
    const { status, text } = await sendRequest(`${service.url}/token`, {
      method: 'POST',
      headers: { ...form, ...forwardedFrom(`198.51.${at}.1`) },
      body: `grant_type=none&padding=${'x'.repeat(1_000)}`,
    });
    assert.equal(status, 401, text);
  }
  const cut = await waitFor('the end of one', () => {
    const ended = held.filter((talk) => talk.text() !== '');
    return ended.length > 0 && ended;
  });
  assert.equal(cut.length, 1, 'one of them made room for all');
  assert.match(cut[0]?.text() ?? '', /^HTTP\/1\.1 503 /);
  const address = `${service.url}/ete/v1/email/${shop.id}/t-0001`;
  const sent = await sendRequest(address, {
    method: 'POST',
    headers: { ...json, authorization: `Bearer ${token}`, ...forwardedFrom('192.0.1.1') },
    body: JSON.stringify(goodBody()),
  });
  assert.equal(sent.status, 200, sent.text);
  await free();
  const after = await holdBody('192.0.1.1', mebibyte);
  after.socket.write('[');
  assert.equal(await answered(after), '401');
  for (const talk of [same, after]) talk.socket.destroy();
});

for (const [name, addressOf] of [
  ['a /64', (at: number) => `2001:db8::${at + 1}`],
  ['the 65,536 networks of a /48', (at: number) => `2001:db8:0:${(at * 256).toString(16)}::1`],
] as const)
  test(`ASVS 4.0.3 11.1.4: ${name} leaves memory for bodies to others`, async (t) => {
    const all = (total - reserve) / mebibyte;
    const addresses = Array.from({ length: all }, (_, at) => addressOf(at));
    const { free } = await fillMemory(t, addresses, 1);
    const more = await Promise.all(
      Array.from({ length: 9 }, (_, at) => holdBody(addressOf(all + at), mebibyte)),
    );
    assert.equal(more.length, 9);
    await waitFor('a refusal', () => more.some((talk) => talk.text() !== ''));
    const other = await holdBody('192.0.2.1', mebibyte);
    other.socket.write('[');
    assert.equal(await answered(other), '401');
    for (const talk of [...more, other]) talk.socket.destroy();
    await free();
  });

test('ASVS 4.0.3 13.1.3: the send operation returns 503 with Retry-After if there is no memory for its body', async (t) => {
  const http = createHttp({
    log: createLog('silent'),
    trustProxy: [],
    routes: [testRoute('POST', '/direct/*', { known: true })],
    // 8 KiB for bodies of authenticated callers.
    memoryShare: 1 / 16_384,
  });
  t.after(() => http.close());
  http.direct.post('/direct/', '/direct/*', async (exchange) => {
    try {
      await exchange.readBody();
      exchange.answer(200, '{}');
    } catch (error) {
      exchange.answer((error as { code: string }).code === 'IO_EXCEPTION' ? 503 : 500, '{}');
    }
  });
  await http.listen({ host: '127.0.0.1', port: 0 });
  const base = `http://127.0.0.1:${(http.server.address() as AddressInfo).port}`;
  const held = await announce(base, '/direct/1', 6_100);
  for (const bytes of [4_000, 6_000]) {
    held.socket.write('x'.repeat(bytes - http.bodyTraffic.bytes));
    await waitFor('the body', () => http.bodyTraffic.bytes === bytes);
  }
  const more = await announce(base, '/direct/1', 1_000);
  more.socket.write('x'.repeat(1_000));
  assert.equal(await answered(more), '503');
  await more.closed;
  held.socket.write('x'.repeat(100));
  assert.equal(await answered(held), '200');
  await waitFor('memory', () => http.bodyTraffic.bytes === 0);
  held.socket.destroy();
});

test('ASVS 4.0.3 13.1.3: a slow body times out after the limit of its route', async (t) => {
  const http = createHttp({
    log: createLog('silent'),
    trustProxy: [],
    routes: [
      testRoute('POST', '/slow', { bodySeconds: 0.2 }),
      testRoute('POST', '/direct/*', { bodySeconds: 0.2 }),
    ],
  });
  t.after(() => http.close());
  http.post('/slow', () => 'whole');
  http.direct.post('/direct/', '/direct/*', async (exchange) => {
    const body = await exchange.readBody();
    exchange.answer('unusable' in body ? 400 : 200, JSON.stringify(body));
  });
  await http.listen({ host: '127.0.0.1', port: 0 });
  const base = `http://127.0.0.1:${(http.server.address() as AddressInfo).port}`;
  for (const [path, status] of [
    ['/slow', '408'],
    ['/direct/1', '400'],
  ] as const) {
    const talk = await announce(base, path, 100);
    talk.socket.write('"');
    assert.equal(await answered(talk), status);
    assert.match(talk.text(), /did not arrive within 0\.2 seconds/);
    assert.match(talk.text(), /connection: close/i);
    await talk.closed;
  }
});

test('a body of an unsupported type is drained, and its connection stays usable', async () => {
  const cookie = await signIn(service, shop.owner.email);
  const talk = await openRawRequest(service.url, {
    path: `/manage/v1/accounts/${shop.id}/keys`,
    headers: {
      cookie,
      'x-signalpost-request': '1',
      'content-type': 'text/xml',
      'content-length': String(40_000),
    },
  });
  assert.equal(await answered(talk), '415');
  talk.socket.write('x'.repeat(40_000));
  talk.socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
  await waitFor('the next response', () => /HTTP\/1\.1 200/.test(talk.text()));
  talk.socket.destroy();
});

test('the memory of an aborted body is released', async () => {
  const talk = await holdBody('192.0.2.9', 100_000);
  await waitFor('the body', () => service.app.http.bodyTraffic.bytes > 0);
  talk.socket.destroy();
  await once(talk.socket, 'close');
  await waitFor('memory', () => service.app.http.bodyTraffic.bytes === 0);
});

test('ASVS 4.0.3 13.1.3: a full share of memory is 503 for /token, whose 429 is the allowance', async (t) => {
  const { free } = await fillMemory(t, ['192.0.2.30'], (total - reserve) / mebibyte);
  const token = await announce(service.url, '/token', 4_000, {
    'content-type': 'application/x-www-form-urlencoded',
    ...forwardedFrom('192.0.2.30'),
  });
  token.socket.write('x'.repeat(4_000));
  assert.equal(await answered(token), '503', token.text());
  assert.match(token.text(), /retry-after: 1\r\n/i);
  assert.match(token.text(), /temporarily_unavailable/);
  token.socket.destroy();
  await free();
});

test('ASVS 4.0.3 13.1.5: every page rejects a form with the wrong content type without an internal error', async () => {
  const pages = /^\/(authorize|sign-|forgot-|set-password|invitation|me\/)/;
  const forms = routeLimits.filter(
    ({ methods, path }) => methods.includes('POST') && pages.test(path),
  );
  assert.ok(forms.length > 10);
  for (const { path } of forms) {
    const { status, text } = await sendRequest(`${service.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/xml', origin: service.url },
      body: '<form/>',
    });
    assert.ok(status === 400 || status === 415, `${path} ${status}: ${text}`);
  }
});
