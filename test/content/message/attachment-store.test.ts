import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import fc from 'fast-check';
import type { AccountId } from '../../../src/base/values/ids.ts';
import { AttachmentStore } from '../../../src/content/message/attachment-store.ts';
import { saveShop } from '../../support/shop.ts';
import { createTestDatabase } from '../../support/test-database.ts';

const { database } = await createTestDatabase();
const store = new AttachmentStore(database.settings);
after(() => store.close());
const [one, other, gone] = ['1001', '1002', '1003'] as [AccountId, AccountId, AccountId];
for (const id of [one, other]) await saveShop(database, { id });

function toContent(content: Buffer) {
  return { sha256: createHash('sha256').update(content).digest('hex'), content };
}

test('contents of any bytes and size are read as they were saved, by their account only', async () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.integer({ min: 32_000, max: 33_500 }).map((length) => randomBytes(length)),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(bytes, { minLength: 1, maxLength: 6 }), async (all) => {
      const contents = all.map((content) => toContent(Buffer.from(content)));
      await store.save(one, contents);
      for (const { sha256, content } of contents) {
        assert.deepEqual(await store.read(one, sha256), content);
        if (content.length > 20) assert.equal(await store.read(other, sha256), undefined);
      }
    }),
  );
});

test('hundreds of small contents saved at once are all stored, equal ones once', async () => {
  const shared = toContent(Buffer.from('terms'));
  const own = Array.from({ length: 300 }, (_, index) => toContent(Buffer.from(`own ${index}`)));
  await Promise.all(
    own.map((content, index) => store.save(index % 2 === 0 ? one : other, [content, shared])),
  );
  for (const [index, { sha256, content }] of own.entries())
    assert.deepEqual(await store.read(index % 2 === 0 ? one : other, sha256), content);
  const { rows } = await database.pool.query(
    "select account_id from attachment_content where sha256 = decode($1, 'hex') order by account_id",
    [shared.sha256],
  );
  assert.deepEqual(rows, [{ account_id: one }, { account_id: other }]);
});

test('a content of an account that doesn’t exist fails alone', async () => {
  const contents = Array.from({ length: 20 }, () => toContent(randomBytes(100)));
  const results = await Promise.allSettled(
    contents.map((content, index) => store.save(index === 7 ? gone : one, [content])),
  );
  assert.deepEqual(
    results.map(({ status }) => status),
    contents.map((_, index) => (index === 7 ? 'rejected' : 'fulfilled')),
  );
});

test('a stored content that is due for the sweep is kept for the message that saves it again', async () => {
  const content = toContent(randomBytes(100));
  await store.save(one, [content]);
  await database.pool.query('update attachment_content set check_at = now()');
  await store.save(one, [content]);
  const { rows } = await database.pool.query(
    `select check_at > now() + interval '30 minutes' as safe from attachment_content where sha256 = decode($1, 'hex')`,
    [content.sha256],
  );
  assert.deepEqual(rows, [{ safe: true }]);
});
