import assert from 'node:assert/strict';
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { dkimRecord, generateDkimKey, readDkimKey } from '../../../src/accounts/sender/dkim-key.ts';
import { relaxBody } from '../../../src/sending/signing/canonical-form.ts';
import { signMessage } from '../../../src/sending/signing/sign-message.ts';

const rsa = readDkimKey('shop.test', 'rsa1', await generateDkimKey('rsa-sha256'));
const ed = readDkimKey('shop.test', 'ed1', await generateDkimKey('ed25519-sha256'));
const signedAt = new Date('2026-03-01T10:00:00Z');

const records = new Map(
  [rsa, ed].map((key) => [`${key.selector}._domainkey.shop.test`, dkimRecord(key.privateKey)]),
);

async function verify(message: Buffer): Promise<string[]> {
  const { results } = await dkimVerify(message, {
    resolver: async (name: string) => {
      const record = records.get(name);
      if (record === undefined) throw Object.assign(new Error('none'), { code: 'ENOTFOUND' });
      return [[record]];
    },
  });
  return results.map((result) => `${result.selector} ${result.status.result}`);
}

function message(body: string, headers: readonly string[] = []): Buffer {
  const lines = [
    'From: Shop <orders@shop.test>',
    'To: ann@home.test',
    'Subject: Your order\r\n with a folded   subject',
    'Date: Sun, 01 Mar 2026 10:00:00 +0000',
    'Message-ID: <1@shop.test>',
    ...headers,
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`, 'utf8');
}

test('RFC 6376, 8463: a message has an RSA and an Ed25519 signature, and both verify', async () => {
  const signed = signMessage(message('Hello  there \r\n\tyou\r\n\r\n\r\n'), [rsa, ed], {
    signedAt,
  });
  assert.deepEqual((await verify(signed)).sort(), ['ed1 pass', 'rsa1 pass']);
});

test('the same message, key and time give the same bytes', () => {
  const mime = message('Hello\r\n');
  assert.deepEqual(
    signMessage(mime, [rsa, ed], { signedAt }),
    signMessage(mime, [rsa, ed], { signedAt }),
  );
});

test('without a key, the message is unchanged', () => {
  const mime = message('Hello\r\n');
  assert.equal(signMessage(mime, [], { signedAt }), mime);
});

test('RFC 6376 8.15: a From, Subject or Reply-To added under the signature breaks it', async () => {
  const signed = signMessage(message('Hello\r\n'), [rsa], { signedAt });
  assert.deepEqual(await verify(signed), ['rsa1 pass']);
  for (const header of ['From: x@evil.test', 'Subject: Win', 'Reply-To: x@evil.test']) {
    const forged = Buffer.concat([Buffer.from(`${header}\r\n`), signed]);
    const results = await verify(forged);
    assert.ok(!results.includes('rsa1 pass'), `${header}: ${results}`);
  }
});

test('RFC 8058 4: List-Unsubscribe and its Post header are signed', () => {
  const signed = signMessage(
    message('Hello\r\n', [
      'List-Unsubscribe: <https://shop.test/u/1>',
      'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
    ]),
    [rsa],
    { signedAt },
  ).toString('latin1');
  const names = /h=([^;]*);/.exec(signed)?.[1]?.replace(/\s/g, '').toLowerCase().split(':') ?? [];
  assert.ok(names.includes('list-unsubscribe') && names.includes('list-unsubscribe-post'));
  assert.equal(names.filter((name) => name === 'from').length, 2);
});

test('RFC 6376 5.4.1: headers that thread, identify and route a message are signed if present', async () => {
  const headers = [
    'In-Reply-To: <a@shop.test>',
    'References: <a@shop.test>',
    'List-ID: <orders.shop.test>',
    'List-Help: <https://shop.test/help>',
    'Feedback-ID: a:b:c:shop',
  ];
  const signed = signMessage(message('Hello\r\n', headers), [rsa], { signedAt });
  assert.deepEqual(await verify(signed), ['rsa1 pass']);
  for (const header of headers) {
    const forged = signed.toString('latin1').replace(header, `${header}x`);
    assert.ok(!(await verify(Buffer.from(forged, 'latin1'))).includes('rsa1 pass'), header);
  }
});

test('a changed body breaks the signature', async () => {
  const signed = signMessage(message('Pay 10\r\n'), [rsa], { signedAt }).toString('latin1');
  assert.ok(!(await verify(Buffer.from(signed.replace('Pay 10', 'Pay 99')))).includes('rsa1 pass'));
});

test('signature lines have at most 78 characters', () => {
  const signed = signMessage(message('Hello\r\n'), [rsa, ed], { signedAt }).toString('latin1');
  const field = signed.slice(0, signed.indexOf('From: '));
  for (const line of field.split('\r\n')) assert.ok(line.length <= 78, line);
});

test('RFC 6531: a message with UTF-8 headers verifies', async () => {
  const mime = message('Grüße\r\n', ['Cc: jürgen@home.test']);
  assert.deepEqual(await verify(signMessage(mime, [rsa], { signedAt })), ['rsa1 pass']);
});

test('both signatures verify for any body', async () => {
  const piece = fc.constantFrom(' ', '\t', '\r\n', 'a', '.', '=20', 'é', '  ', '\r\n\r\n');
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 30 }), async (pieces) => {
      const signed = signMessage(message(`${pieces.join('')}\r\n`), [rsa, ed], { signedAt });
      assert.deepEqual((await verify(signed)).sort(), ['ed1 pass', 'rsa1 pass']);
    }),
  );
});

test('RFC 6376 3.4.5: the example body in its relaxed form', () => {
  assert.equal(relaxBody(Buffer.from(' C \r\nD \t E\r\n\r\n\r\n')).toString(), ' C\r\nD E\r\n');
  assert.equal(relaxBody(Buffer.from('\r\n\r\n')).toString(), '');
  assert.equal(relaxBody(Buffer.from('')).toString(), '');
});

test('RFC 8301: an RSA key under 2048 bits is rejected', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
  assert.throws(() => readDkimKey('shop.test', 's', privateKey), /2048/);
  const pem = rsa.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  assert.equal(readDkimKey('shop.test', 's', pem).algorithm, 'rsa-sha256');
  assert.equal(createPublicKey(pem).asymmetricKeyType, 'rsa');
});
