import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { MessageId } from '../../src/base/values/ids.ts';
import { StatusLinks } from '../../src/sending/submission/status-link.ts';
import { bodyWith } from '../support/send-client.ts';
import { sendRequest, type TextResponse } from '../support/send-request.ts';
import { testKey } from '../support/test-service.ts';
import { openSharedShop } from '../support/test-shop.ts';

const [own, other] = [
  await openSharedShop({ worker: false }),
  await openSharedShop({ worker: false }),
];
const links = new StatusLinks(testKey, () => '');

async function acceptWithToken({ client }: typeof own): Promise<[MessageId, string]> {
  const { body } = await client.send({ body: bodyWith({ actions: { statusToken: true } }) });
  return [body.messageId as MessageId, String(body.statusUrl).split('/').at(-1) ?? ''];
}

const [ownId, token] = await acceptWithToken(own);
const [otherId, otherToken] = await acceptWithToken(other);
const bytes = Buffer.from(token, 'base64url');
const otherBytes = Buffer.from(otherToken, 'base64url');

function show(text: string): Promise<TextResponse> {
  return sendRequest(`${own.service.url}/status/${encodeURIComponent(text)}`);
}

/** Every token with a flipped bit, cut short or prolonged, in every spelling, and those that swap parts of two. */
const forged: fc.Arbitrary<string> = fc.oneof(
  fc.nat(bytes.length * 8 - 1).map((bit) => {
    const flipped = Buffer.from(bytes);
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    return flipped.toString('base64url');
  }),
  fc.nat(token.length - 1).map((length) => token.slice(0, length)),
  fc.nat(bytes.length - 1).map((length) => bytes.subarray(0, length).toString('base64url')),
  fc
    .uint8Array({ minLength: 1, maxLength: 60 })
    .map((more) => Buffer.concat([bytes, more]).toString('base64url')),
  // Swaps the signature, the message or the account.
  fc.constantFrom(16, 32, 34).map((at) => {
    const swapped = Buffer.concat([bytes.subarray(0, at), otherBytes.subarray(at)]);
    return swapped.toString('base64url');
  }),
  fc.constantFrom(`${token}=`, `${token}\n`, ` ${token}`, token.replace(/.$/, '!'), `${token}A`),
  // Other characters of the same bytes.
  fc.constantFrom(
    bytes.toString('base64').replaceAll('=', ''),
    bytes.toString('base64'),
    bytes.toString('hex'),
  ),
  fc.string({ minLength: 1, maxLength: 200 }),
  fc.uint8Array({ maxLength: 98 }).map((any) => Buffer.from(any).toString('base64url')),
);

test('ASVS 4.0.3 6.2.6, 8.3.1: no forged status link is accepted', () => {
  assert.deepEqual(links.read(token)?.messageId, ownId);
  fc.assert(
    fc.property(forged, (text) => text === token || links.read(text) === undefined),
    { numRuns: 5_000 },
  );
});

test('ASVS 4.0.3 4.2.1: the account is a part of the link', async () => {
  const request = { isPrivate: false, resendAfterSeconds: 0 };
  const urlOf = (id: MessageId) => links.for(own.shop.id, request)?.urlOf(id) ?? '';
  assert.equal((await show(urlOf(ownId).slice('/status/'.length))).status, 200);
  assert.equal((await show(urlOf(otherId).slice('/status/'.length))).status, 410);
});

test('ASVS 4.0.3 8.3.1: forged links have one answer, which names nothing', async () => {
  const requests = [
    'A',
    token.slice(0, -1),
    `${token}A`,
    otherToken.toLowerCase(),
    'x'.repeat(131),
  ];
  const bodies = await Promise.all(
    requests.map(async (text) => {
      const { status, body } = await show(text);
      const { requestId: _, ...rest } = body;
      return { status, ...rest };
    }),
  );
  for (const body of bodies) assert.deepEqual(body, { status: 404, message: 'Not Found' });
});

test('ASVS 4.0.3 8.3.1: a private link of a suppressed recipient is like that of a message that waits', async () => {
  const send = async (toAddress: string): Promise<string> => {
    const actions = { statusToken: { private: true, resendAfterSeconds: 60 } };
    const { body } = await own.client.send({
      body: bodyWith({ envelope: { toAddress }, actions }),
    });
    return String(body.statusUrl).split('/').at(-1) ?? '';
  };
  const tokens = [await send('suppressed@simulator.test'), await send('ada@people.test')];
  const answers = await Promise.all(tokens.map(show));
  const shapes = answers.map(({ status, headers, body }) => {
    const { at, resendAt, ...rest } = body;
    const lasts = Date.parse(String(resendAt)) - Date.parse(String(at));
    const names = [...headers.keys()].filter((name) => name !== 'date');
    return { status, names, length: headers.get('content-length'), rest, lasts };
  });
  assert.deepEqual(shapes[0], shapes[1]);
  assert.equal(tokens[0]?.length, tokens[1]?.length);
});
