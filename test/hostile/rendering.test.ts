import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodyWith, SendClient } from '../support/send-client.ts';
import { getToken, openShop, publishTemplate } from '../support/shop.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { startTestService } from '../support/test-service.ts';
import { waitFor } from '../support/wait-for.ts';

const { database, url } = await createTestDatabase();
const service = await startTestService({ databaseUrl: url });
const shop = await openShop(database);
const client = new SendClient(service, await getToken(service, shop));

await publishTemplate(database, shop, {
  id: 't-repeats',
  sender: 'orders@shop.test',
  source: { html: `<p>${'{{Notes}}'.repeat(990)}</p>`, fields: {} },
});
await publishTemplate(database, shop, {
  id: 't-links',
  sender: 'orders@shop.test',
  source: { html: '<a href="{{Link}}?n={{Notes}}">x</a>'.repeat(400), text: 'x', fields: {} },
});

function bodyOf(values: Readonly<Record<string, string>>) {
  const personalizationDataMap = { 'Order Number': 'A-1', 'First Name': 'Ann', ...values };
  return bodyWith({ content: { personalizationDataMap } });
}

test('ASVS 4.0.3 11.1.4: a value that its template multiplies past the limit is refused before the 200, by name', async () => {
  const answer = await client.send({
    template: 't-repeats',
    body: bodyOf({ Notes: 'n'.repeat(250_000) }),
  });
  assert.equal(answer.status, 400, answer.text);
  assert.equal(answer.body.errorName, 'VALIDATION_FAILED');
  assert.deepEqual(answer.body.details, [
    {
      field: 'content.personalizationDataMap.Notes',
      reason:
        'makes the HTML larger than 2 MiB: the template uses it 990 times; send a shorter value',
    },
  ]);
});

test('ASVS 4.0.3 11.1.4: the same template sends values that fit', async () => {
  const answer = await client.send({
    template: 't-repeats',
    body: bodyOf({ Notes: 'n'.repeat(2_000) }),
  });
  assert.equal(answer.status, 200, answer.text);
  await waitFor('the message to be delivered', async () => {
    const { body } = await client.status(answer.body.messageId);
    return body.state === 'delivered';
  });
});

test('ASVS 4.0.3 12.1.1: an accepted message that turns out too large ends with a reason that names limit and field', async () => {
  const answer = await client.send({
    template: 't-links',
    body: bodyOf({ Link: 'https://shop.test/', Notes: 'n'.repeat(200_000) }),
  });
  assert.equal(answer.status, 200, answer.text);
  const events = await waitFor('the message to end', async () => {
    const { body } = await client.status(answer.body.messageId);
    return body.state === 'bounced' && (body.events as Record<string, unknown>[]);
  });
  const bounced = events.find(({ kind }) => kind === 'bounced');
  assert.match(JSON.stringify(bounced), /the HTML would be larger than 2 MiB/);
  assert.match(JSON.stringify(bounced), /Notes, has 200000 characters and is used 400 times/);
  const { rows } = await database.pool.query('select from suppression');
  assert.equal(rows.length, 0, 'the recipient is not blamed for it');
});
