import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeBasic } from '../../../src/accounts/oauth/authenticate-client.ts';
import { OAuthError } from '../../../src/accounts/oauth/oauth-errors.ts';
import { parseForm } from '../../../src/accounts/sign-in/form.ts';
import { codePoint } from '../../support/code-point.ts';

const text = fc.string({ unit: codePoint }).filter((value) => !value.includes('\0'));

function encode(value: string): string {
  return new URLSearchParams([['', value]]).toString().slice(1);
}

test('an encoded form decodes to itself', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.tuple(text, text), { selector: ([name]) => name, maxLength: 8 }),
      (pairs) => {
        const form = parseForm(new URLSearchParams(pairs).toString());
        for (const [name, value] of pairs)
          assert.equal(form.get(name), value === '' ? undefined : value);
      },
    ),
  );
});

test('any text is a form or an invalid_request, never another error', () => {
  const pieces = fc.constantFrom(
    '%',
    '%f',
    '%ff',
    '%00',
    '+',
    '=',
    '&',
    'a',
    '\u{1F600}',
    '\ud800',
  );
  const any = fc.oneof(
    fc.string({ unit: codePoint }),
    fc.array(pieces).map((list) => list.join('')),
  );
  fc.assert(
    fc.property(any, (body) => {
      try {
        parseForm(body);
      } catch (error) {
        assert.ok(error instanceof OAuthError);
        assert.match(error.message, /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
      }
    }),
  );
});

test('a repeated name is rejected, whatever its values and encoding', () => {
  fc.assert(
    fc.property(text, text, text, (name, first, second) => {
      const plain = encode(name);
      const hex = [...Buffer.from(name)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`);
      const body = `${plain}=${encode(first)}&x1=y&${hex.join('')}=${encode(second)}`;
      assert.throws(() => parseForm(body), OAuthError);
    }),
  );
});

test('RFC 6749 2.3.1: encoded Basic credentials decode to themselves', () => {
  fc.assert(
    fc.property(text, text, (clientId, secret) => {
      fc.pre(clientId !== '' && secret !== '');
      const pair = `${encode(clientId)}:${encode(secret)}`;
      const header = `Basic ${Buffer.from(pair).toString('base64')}`;
      const credentials = decodeBasic(header);
      assert.equal(credentials?.clientId, clientId);
      assert.equal(credentials?.secrets[0], secret);
    }),
  );
});

test('any header is Basic credentials or none', () => {
  fc.assert(
    fc.property(fc.string({ unit: codePoint }), fc.boolean(), (value, encoded) => {
      const header = encoded ? `Basic ${Buffer.from(value).toString('base64')}` : value;
      const credentials = decodeBasic(header);
      if (credentials !== undefined) assert.ok(credentials.clientId && credentials.secrets[0]);
    }),
  );
});

test('a form with more parameters than any request has is an invalid_request', () => {
  const parameters = (count: number) =>
    Array.from({ length: count }, (_, at) => `a${at}=`).join('&');
  assert.equal(parseForm(parameters(200)).get('a0'), undefined);
  assert.throws(() => parseForm(parameters(201)), OAuthError);
});
