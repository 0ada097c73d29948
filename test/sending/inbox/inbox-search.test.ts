import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { InboxStore } from '../../../src/sending/inbox/inbox-store.ts';
import { ManagementClient } from '../../support/management-client.ts';
import { serviceTokens } from '../../support/service-tokens.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { startTestService } from '../../support/test-service.ts';

const { url: databaseUrl, database } = await createTestDatabase();
const store = new InboxStore(database);
const service = await startTestService({ databaseUrl });

function keep(subject: string, more: { to?: string; from?: string; text?: string } = {}) {
  const { to = 'reader@example.test', from = 'Shop <shop@shop.test>', text = 'Body' } = more;
  return store.add({
    envelopeFrom: 'bounce@shop.test',
    envelopeTo: [to],
    headers: [
      ['From', from],
      ['Subject', subject],
    ],
    subject,
    html: null,
    text,
    unread: false,
    source: Buffer.from('x'),
  });
}

async function search(text: string): Promise<string[]> {
  return (await store.listAfter(text, undefined, 1_000)).map(({ subject }) => subject).sort();
}

before(async () => {
  await keep('Rabatt 100% sicher');
  await keep('Rabatt 1000 sicher');
  await keep('snake_case');
  await keep('snakeXcase');
  await keep('back\\slash');
  await keep('An address', { to: 'Zoe@Example.Test' });
  await keep('A name', { from: 'Grüße Ltd <hello@shop.test>' });
  await keep('A text', { text: 'Deep inside: needle' });
});

test('a search covers subjects, addresses, names and text, ignoring case', async () => {
  assert.deepEqual(await search('RABATT 1000'), ['Rabatt 1000 sicher']);
  assert.deepEqual(await search('zoe@example'), ['An address']);
  assert.deepEqual(await search('grüße ltd'), ['A name']);
  assert.deepEqual(await search('Needle'), ['A text']);
  assert.deepEqual(await search('nowhere'), []);
  assert.equal((await search('bounce@shop.test')).length, 8);
  assert.equal((await search('')).length, 8);
});

test('%, _ and \\ are literal characters', async () => {
  assert.deepEqual(await search('100%'), ['Rabatt 100% sicher']);
  assert.deepEqual(await search('snake_case'), ['snake_case']);
  assert.deepEqual(await search('back\\s'), ['back\\slash']);
  assert.deepEqual(await search('%'), ['Rabatt 100% sicher']);
});

const reader = new ManagementClient(service, serviceTokens.INBOX_TOKEN);

test("a search for characters that text can't contain finds nothing, or is refused", async () => {
  for (const query of ['%00', 'a%00b', '%ED%A0%80', 'x'.repeat(5_000)]) {
    const { status } = await reader.get(`/inbox/messages?search=${query}`);
    assert.ok(status === 200 || status === 422, `${query.slice(0, 20)}: ${status}`);
  }
});

test('the list has pages, newest first', async () => {
  for (let count = 1; count <= 120; count += 1) await keep(`bulk ${count}`);
  const found: string[] = [];
  const sizes: number[] = [];
  for (let cursor: unknown = ''; cursor !== null; ) {
    const { body } = await reader.get(
      `/inbox/messages?search=bulk&limit=50&cursor=${cursor}`.replace(/&cursor=$/, ''),
    );
    const items = body.items as { subject: string }[];
    found.push(...items.map(({ subject }) => subject));
    sizes.push(items.length);
    cursor = body.nextCursor;
  }
  assert.deepEqual(sizes, [50, 50, 20]);
  assert.deepEqual(
    found,
    Array.from({ length: 120 }, (_, index) => `bulk ${120 - index}`),
  );
});

test('the oldest messages are removed if there are too many, or too many bytes; the newest stays', async () => {
  const count = async () => (await search('')).length;
  assert.equal(await count(), 128);
  await store.trim(100, 1_000);
  assert.equal(await count(), 100);
  await store.trim(100, 30);
  assert.equal(await count(), 30);
  assert.equal((await store.listAfter('', undefined, 1))[0]?.subject, 'bulk 120');
  await store.trim(0, 0);
  assert.equal(await count(), 1);
});

test('an API response stays within its size limit and contains at least one message', async () => {
  await store.remove({ to: undefined, since: undefined });
  const source = Buffer.alloc(20 * 1024 ** 2, 'x');
  const large = { envelopeFrom: '', envelopeTo: ['a@b.test'], headers: [], subject: 'large' };
  for (let count = 0; count < 3; count += 1)
    await store.add({ ...large, html: null, text: null, unread: false, source });
  const found = await store.find({ to: undefined, since: undefined }, 50);
  assert.equal(found.length, 2);
});
