import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodyWith } from '../../support/send-client.ts';
import { openSharedShop } from '../../support/test-shop.ts';

const { client } = await openSharedShop({ worker: false });

/** One code point each: a letter, an emoji of two UTF-16 units and four bytes, a combining mark of two bytes. */
const characters = { letter: 'a', emoji: '😀', 'combining mark': '\u0301' };

async function detailsOf(group: string, members: Record<string, unknown>): Promise<unknown> {
  const response = await client.send({ body: bodyWith({ [group]: members }) });
  if (response.status === 200) return 'OK';
  assert.equal(response.body.errorName, 'VALIDATION_FAILED');
  return response.body.details;
}

const limits: [group: string, field: string, maxLength: number, wrap: (text: string) => unknown][] =
  [
    ['content', 'subjectLine', 90, (text) => text],
    ['content', 'previewText', 240, (text) => text],
    ['metadata', 'externalId', 128, (text) => text],
    ['metadata', 'tagList', 48, (text) => [text]],
  ];

for (const [group, field, maxLength, wrap] of limits) {
  for (const [name, character] of Object.entries(characters)) {
    test(`8: ${field} can have ${maxLength} characters and not one more, counted in code points (${name})`, async () => {
      const at = { personalizationDataMap: { 'Order Number': 'A' } };
      const rest = group === 'content' ? at : {};
      const text = character.repeat(maxLength);
      assert.equal(await detailsOf(group, { ...rest, [field]: wrap(text) }), 'OK');
      const path = `${group}.${field}${field === 'tagList' ? '[0]' : ''}`;
      assert.deepEqual(await detailsOf(group, { ...rest, [field]: wrap(text + character) }), [
        { field: path, reason: `must not be longer than ${maxLength} characters` },
      ]);
    });
  }
}

test('8: ccAddressList can have 5 addresses and not one more', async () => {
  const cc = ['a', 'b', 'c', 'd', 'e'].map((name) => `${name}@example.test`);
  const toAddress = 'reader@example.test';
  assert.equal(await detailsOf('envelope', { toAddress, ccAddressList: cc }), 'OK');
  assert.deepEqual(
    await detailsOf('envelope', { toAddress, ccAddressList: [...cc, 'f@example.test'] }),
    [{ field: 'envelope.ccAddressList', reason: 'must not have more than 5 entries' }],
  );
});

test('8: tagList can have 1 tag and not one more, and a tag is not empty', async () => {
  assert.equal(await detailsOf('metadata', { tagList: [] }), 'OK');
  assert.equal(await detailsOf('metadata', { tagList: ['one'] }), 'OK');
  assert.deepEqual(await detailsOf('metadata', { tagList: ['one', 'two'] }), [
    { field: 'metadata.tagList', reason: 'must not have more than 1 entry' },
  ]);
  assert.deepEqual(await detailsOf('metadata', { tagList: [''] }), [
    { field: 'metadata.tagList[0]', reason: 'must not be empty' },
  ]);
});

test('an address can have 254 octets, 64 of them before the @, and not one more', async () => {
  const domain = `${'d'.repeat(63)}.${'e'.repeat(63)}.${'f'.repeat(56)}.test`;
  const maxAddress = `${'l'.repeat(64)}@${domain}`;
  assert.equal(maxAddress.length, 254);
  assert.equal(await detailsOf('envelope', { toAddress: maxAddress }), 'OK');
  assert.notEqual(await detailsOf('envelope', { toAddress: `${maxAddress}s` }), 'OK');
  assert.equal(await detailsOf('envelope', { toAddress: `${'l'.repeat(64)}@example.test` }), 'OK');
  assert.notEqual(
    await detailsOf('envelope', { toAddress: `${'l'.repeat(65)}@example.test` }),
    'OK',
  );
});
