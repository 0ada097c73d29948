import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { policies } from '../../src/base/fairness/policies.ts';
import { createLog } from '../../src/base/values/log.ts';
import { createHttp } from '../../src/host/http/create-http.ts';
import { mebibyte } from '../../src/host/http/limits/route-limits.ts';
import { openRawRequest, type RawConversation } from '../../test/support/raw-connection.ts';
import { bodyWith } from '../../test/support/send-client.ts';
import { getToken, openShop } from '../../test/support/shop.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { testRoute } from '../../test/support/test-route.ts';
import { startTestService } from '../../test/support/test-service.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const { database, url } = await createTestDatabase();
const service = await startTestService({ databaseUrl: url, worker: false });
const { large } = service.app.http.bodyTraffic;

const bodyBytes = 10 * mebibyte;

/** A body of exactly so many bytes, with an attachment that is almost as large. */
const wholeBody = ((): Buffer => {
  const build = (content: string) =>
    JSON.stringify(
      bodyWith({
        content: {
          personalizationDataMap: { 'Order Number': 'A' },
          attachments: [{ filename: 'a.bin', contentType: 'application/octet-stream', content }],
        },
      }),
    );
  const room = bodyBytes - build('').length;
  const content = 'A'.repeat(room - (room % 4));
  return Buffer.from(build(content).padEnd(bodyBytes));
})();

class Sender {
  readonly account: string;
  readonly #token: string;

  private constructor(account: string, token: string) {
    this.account = account;
    this.#token = token;
  }

  static async open(account: string): Promise<Sender> {
    // As sent, an attachment grows by its line breaks.
    const shop = await openShop(database, { id: account, attachmentLimit: 12 * mebibyte });
    return new Sender(account, await getToken(service, shop));
  }

  /** Announces a body and sends its first bytes. */
  async begin(bytes: number): Promise<RawConversation> {
    const talk = await this.#open({ 'content-length': String(bodyBytes) });
    talk.socket.write(wholeBody.subarray(0, bytes));
    return talk;
  }

  #open(headers: Readonly<Record<string, string>>): Promise<RawConversation> {
    return openRawRequest(service.url, {
      path: `/ete/v1/email/${this.account}/t-0001`,
      headers: {
        authorization: `Bearer ${this.#token}`,
        'content-type': 'application/json',
        ...headers,
      },
    });
  }
}

const statusOf = (talk: RawConversation): string | undefined =>
  /^HTTP\/1\.1 (\d{3})/.exec(talk.text())?.[1];
const answered = (talk: RawConversation): Promise<string> =>
  waitFor('an answer', () => statusOf(talk));

const [first, second, third] = await Promise.all(
  ['46101', '46102', '46103'].map((account) => Sender.open(account)),
);
assert.ok(first && second && third);

/** Fills the memory for large bodies: three very slow bodies of one account, three almost complete ones of another. */
async function fill(): Promise<{ trickled: RawConversation[]; complete: RawConversation[] }> {
  const trickled = await Promise.all([1, 2, 3].map(() => first?.begin(100)));
  const complete = await Promise.all([1, 2, 3].map(() => second?.begin(bodyBytes - 1)));
  await waitFor('the memory to be full', () => large.bytes === 6 * bodyBytes);
  assert.ok(large.bytes + bodyBytes > policies.largeBodies.total);
  return {
    trickled: trickled.flatMap((talk) => talk ?? []),
    complete: complete.flatMap((talk) => talk ?? []),
  };
}

test('ASVS 4.0.3 11.1.4: two accounts that fill the memory for large bodies can’t keep a third one out', async () => {
  const { trickled, complete } = await fill();
  const other = await third.begin(bodyBytes);
  assert.equal(await answered(other), '200', other.text());
  const cut = trickled.filter((talk) => statusOf(talk) !== undefined);
  assert.ok(cut.length >= 1);
  for (const talk of cut) {
    assert.equal(statusOf(talk), '503', talk.text());
    assert.match(talk.text(), /retry-after: 1\r\n/i);
    assert.match(talk.text(), /connection: close\r\n/i);
    await talk.closed;
  }
  for (const talk of complete) {
    assert.equal(statusOf(talk), undefined, 'what arrives fast enough stays');
    talk.socket.write(wholeBody.subarray(-1));
    assert.equal(await answered(talk), '200', talk.text());
  }
  for (const talk of [...trickled, ...complete, other]) talk.socket.destroy();
  await waitFor('memory', () => large.bytes === 0);
});

/** A service whose memory for large bodies is full, and a body without a length that waits for some. */
async function waitForSpace(t: TestContext) {
  const http = createHttp({
    log: createLog('silent'),
    trustProxy: [],
    routes: [testRoute('POST', '/direct/*', { known: true, bodyBytes: 1, bodySeconds: 0.2 })],
  });
  t.after(() => http.close());
  const answered = Promise.withResolvers<number>();
  http.direct.post('/direct/', '/direct/*', async (exchange) => {
    const body = await exchange.readBody('late', bodyBytes);
    const status = 'unusable' in body ? 400 : 200;
    exchange.answer(status, '{}');
    answered.resolve(status);
  });
  await http.listen({ host: '127.0.0.1', port: 0 });
  const { large } = http.bodyTraffic;
  const held = await Promise.all(
    ['a', 'b'].map((account) => large.reserve({ account, maxBytes: policies.largeBodies.share })),
  );
  const { port } = http.server.address() as AddressInfo;
  const headers = { 'transfer-encoding': 'chunked' };
  const talk = await openRawRequest(`http://127.0.0.1:${port}`, { path: '/direct/1', headers });
  talk.socket.write('4\r\nwait\r\n');
  await waitFor('the body to wait', () => http.bodyTraffic.bytes > large.bytes);
  const free = async (): Promise<void> => {
    for (const space of held) space?.release();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { http, large, talk, free, status: answered.promise };
}

test('ASVS 4.0.3 13.1.3: a body whose connection is closed while it waits for memory takes none', async (t) => {
  const { http, large, talk, free, status } = await waitForSpace(t);
  http.server.closeAllConnections();
  assert.equal(await status, 400);
  await free();
  assert.equal(large.bytes, 0);
  await talk.closed;
});

test('the time that a body waits for memory is not its own', async (t) => {
  const { large, talk, free, status } = await waitForSpace(t);
  await new Promise((resolve) => setTimeout(resolve, 300));
  await free();
  talk.socket.write('0\r\n\r\n');
  assert.equal(await status, 200);
  await waitFor('memory', () => large.bytes === 0);
  talk.socket.destroy();
});
