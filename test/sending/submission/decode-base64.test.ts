import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeBase64 } from '../../../src/sending/submission/decode-base64.ts';

const padded = /^[A-Za-z0-9+/]*={0,2}$/;

/** The form of RFC 4648 section 4. */
function isBase64(text: string): boolean {
  return text.length % 4 === 0 && padded.test(text);
}

const characters = fc.constantFrom(...'AZaz09+/AZaz09+/=-_ \n\r.\u00e9');

test('only characters of base64 with padding at its end are decoded, from a text or its bytes', async () => {
  const texts = fc.string({ unit: characters, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(texts, async (text) => {
      for (const input of [text, Buffer.from(text, 'latin1')]) {
        const decoded = await decodeBase64(input);
        assert.equal(decoded !== undefined, isBase64(text));
        if (decoded !== undefined) assert.deepEqual(decoded.content, Buffer.from(text, 'base64'));
      }
    }),
  );
});

test('a wrong character is found in any piece of a long content', async () => {
  const bytes = randomBytes(1_500_000);
  const text = bytes.toString('base64');
  assert.deepEqual((await decodeBase64(text))?.content, bytes);
  assert.deepEqual((await decodeBase64(Buffer.from(text)))?.content, bytes);
  for (const at of [0, 524_287, 524_288, 1_048_575, 1_048_576, text.length - 1])
    for (const wrong of ['-', '\n', '='])
      if (at < text.length - 1 || wrong !== '=')
        assert.equal(await decodeBase64(text.slice(0, at) + wrong + text.slice(at + 1)), undefined);
});

test('unused bits of the last character don’t matter', async () => {
  assert.deepEqual((await decodeBase64('QR=='))?.content, Buffer.from('A'));
});
