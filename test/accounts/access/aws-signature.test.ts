import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { GetAccountCommand, SESv2Client } from '@aws-sdk/client-sesv2';
import fc from 'fast-check';
import {
  findClaimProblem,
  isSignedWith,
  parseSignature,
  type SignedRequest,
} from '../../../src/accounts/access/aws-signature.ts';
import { codePoint } from '../../support/code-point.ts';

const accessKeyId = 'AKIDEXAMPLE';
const secretAccessKey = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
const amzDate = '20150830T123600Z';

function vector(
  requestLine: string,
  headers: Record<string, string[]>,
  signature: string,
  body = '',
): { claimed: string; request: SignedRequest } {
  const [method = '', target = ''] = requestLine.split(' ');
  const all = { host: ['example.amazonaws.com'], 'x-amz-date': [amzDate], ...headers };
  const names = Object.keys(all).sort().join(';');
  return {
    claimed: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/20150830/us-east-1/service/aws4_request, SignedHeaders=${names}, Signature=${signature}`,
    request: { method, target, headers: all, bodyHash: hash('sha256', body) },
  };
}

const vectors = {
  'get-vanilla': vector(
    'GET /',
    {},
    '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
  ),
  'get-utf8': vector(
    'GET /ሴ',
    {},
    '8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85',
  ),
  'get-unreserved': vector(
    'GET /-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
    {},
    '07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f',
  ),
  'get-relative-relative': vector(
    'GET /example1/example2/../..',
    {},
    '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
  ),
  'get-slashes': vector(
    'GET //example//',
    {},
    '9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84',
  ),
  'get-vanilla-query-order-key-case': vector(
    'GET /?Param2=value2&Param1=value1',
    {},
    'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  ),
  'get-vanilla-query-order-value': vector(
    'GET /?Param1=value2&Param1=value1',
    {},
    '5772eed61e12b33fae39ee5e7012498b51d56abc0abb7c60486157bd471c4694',
  ),
  'get-header-key-duplicate': vector(
    'GET /',
    { 'my-header1': ['value2', 'value2', 'value1'] },
    'c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea',
  ),
  'get-header-value-trim': vector(
    'GET /',
    { 'my-header1': [' value1'], 'my-header2': [' "a   b   c"'] },
    'acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736',
  ),
  'post-x-www-form-urlencoded': vector(
    'POST /',
    { 'content-type': ['application/x-www-form-urlencoded'] },
    'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
    'Param1=value1',
  ),
};

test('the test vectors that Amazon published for Signature Version 4 are accepted, and none with another secret', () => {
  for (const [name, { claimed, request }] of Object.entries(vectors)) {
    const signature = parseSignature(claimed);
    assert.ok(signature, name);
    assert.ok(isSignedWith(secretAccessKey, signature, request), name);
    assert.ok(!isSignedWith(`${secretAccessKey}x`, signature, request), name);
  }
});

interface Sent {
  readonly method: string;
  readonly segments: readonly string[];
  readonly query: Record<string, string>;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** The request that the SDK makes of its command, until it is sent. */
interface SdkRequest {
  method: string;
  path: string;
  query: Record<string, string>;
  headers: Record<string, string>;
  body: string;
}

let next: SdkRequest | undefined;
let last: SdkRequest | undefined;
const client = new SESv2Client({
  region: 'eu-central-1',
  endpoint: 'https://mail.shop.test',
  credentials: { accessKeyId, secretAccessKey },
  requestHandler: {
    handle: async (request: unknown) => {
      last = request as SdkRequest;
      throw new Error('it is only signed');
    },
  },
  maxAttempts: 1,
});
client.middlewareStack.add(
  (handle) => (args) => {
    const request = args.request as SdkRequest;
    Object.assign(request, { ...next, headers: { ...next?.headers, host: request.headers.host } });
    return handle(args);
  },
  { step: 'build', priority: 'low' },
);

/** A request as the SDK signs it and as it arrives. */
async function sign({ segments, ...sent }: Sent) {
  const path = `/${segments.map(encodeURIComponent).join('/')}`;
  next = { ...sent, path };
  await assert.rejects(client.send(new GetAccountCommand({})), /it is only signed/);
  const headers = last?.headers ?? {};
  const search = new URLSearchParams(sent.query).toString().replaceAll('+', '%20');
  const request: SignedRequest = {
    method: sent.method,
    target: search === '' ? path : `${path}?${search}`,
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value]]),
    ),
    bodyHash: hash('sha256', sent.body),
  };
  const claimed = parseSignature(headers.authorization ?? '');
  assert.ok(claimed, String(headers.authorization));
  const [date = ''] = request.headers['x-amz-date'] ?? [];
  const signedAt = Date.parse(date.replace(/(....)(..)(..T..)(..)(..Z)/, '$1-$2-$3:$4:$5'));
  return { claimed, request, date, signedAt };
}

const text = fc.string({ unit: codePoint, maxLength: 20 });
const sent: fc.Arbitrary<Sent> = fc.record({
  method: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE'),
  segments: fc.array(
    text.filter((one) => one !== '.' && one !== '..'),
    { maxLength: 4 },
  ),
  query: fc.dictionary(text, text, { maxKeys: 4, noNullPrototype: true }),
  headers: fc.dictionary(
    fc.constantFrom('content-type', 'x-amz-user-agent', 'amz-sdk-request'),
    fc.stringMatching(/^[!-~][ -~]{0,20}$/),
  ),
  body: text,
});
const plain: Sent = {
  method: 'POST',
  segments: ['ses', 'v2', 'email', 'outbound-emails'],
  query: {},
  headers: { 'content-type': 'application/json' },
  body: '{}',
};

test('what the SDK of Amazon signs is accepted, whatever path, query and body it has, and nothing that was changed since', async () => {
  await fc.assert(
    fc.asyncProperty(sent, async (one) => {
      const { claimed, request, signedAt } = await sign(one);
      assert.equal(findClaimProblem(claimed, request.headers, signedAt), undefined);
      assert.ok(isSignedWith(secretAccessKey, claimed, request));
      const changes: Partial<SignedRequest>[] = [
        { method: 'PATCH' },
        { target: `/x${request.target}` },
        { target: `${request.target}${request.target.includes('?') ? '&' : '?'}x=` },
        { bodyHash: hash('sha256', `${one.body}.`) },
        ...claimed.signedHeaders.map((name) => ({
          headers: { ...request.headers, [name]: [...(request.headers[name] ?? []), 'x'] },
        })),
      ];
      for (const change of changes)
        assert.ok(
          !isSignedWith(secretAccessKey, claimed, { ...request, ...change }),
          JSON.stringify(change),
        );
    }),
  );
});

test('a signature counts for five minutes before and after, for SES, on the day of its scope, and only if it signs host and x-amz headers', async () => {
  const { claimed, request, date: signedDate, signedAt } = await sign(plain);
  const at = (time: number, more: Partial<typeof claimed> = {}, headers = request.headers) =>
    findClaimProblem({ ...claimed, ...more }, headers, time);
  const minutes = (count: number) => signedAt + count * 60_000;
  assert.deepEqual(
    [-5, 5].map((count) => at(minutes(count))),
    [undefined, undefined],
  );
  assert.equal(at(minutes(5) + 1), 'expired');
  assert.equal(at(minutes(-5) - 1), 'expired');
  assert.equal(at(signedAt, { service: 's3' }), 'wrong-scope');
  assert.equal(at(signedAt, { day: '20150829' }), 'wrong-scope');
  for (const missing of ['host', 'x-amz-date', 'x-amz-content-sha256'])
    assert.equal(
      at(signedAt, { signedHeaders: claimed.signedHeaders.filter((name) => name !== missing) }),
      'unsigned-headers',
      missing,
    );
  assert.equal(at(signedAt, {}, { ...request.headers, 'x-amz-target': ['x'] }), 'unsigned-headers');
  assert.equal(
    at(signedAt, { signedHeaders: [...claimed.signedHeaders, 'host'] }),
    'unsigned-headers',
  );
  for (const date of [
    [],
    ['20150830'],
    [signedDate, signedDate],
    ['20150830T993600Z'],
    [`${signedDate}x`],
  ])
    assert.equal(
      at(signedAt, {}, { ...request.headers, 'x-amz-date': date }) !== undefined,
      true,
      date.join(),
    );
});

test('anything but a header of Signature Version 4 has no signature', () => {
  const { claimed } = vectors['get-vanilla'];
  for (const header of [
    '',
    'Bearer sp_shop_x',
    claimed.replace('AWS4-HMAC-SHA256', 'AWS4-ECDSA-P256-SHA256'),
    claimed.replace('aws4_request', 'aws3_request'),
    claimed.replace('20150830', '2015083'),
    claimed.replace('host;', 'Host;'),
    claimed.replace('host;x-amz-date', ''),
    claimed.replace('host;', `${'a;'.repeat(200)}host;`),
    claimed.slice(0, -1),
    `${claimed}0`,
    `${claimed}, Signature=${'0'.repeat(64)}`,
  ])
    assert.equal(parseSignature(header), undefined, header);
});
