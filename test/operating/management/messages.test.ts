import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testAccountFirst } from '../../support/account-first.ts';
import { bodyWith } from '../../support/send-client.ts';
import { addSender, publishShopTemplate } from '../../support/shop.ts';
import { openSharedShop } from '../../support/test-shop.ts';
import { waitFor } from '../../support/wait-for.ts';

const { database, owner, path, as, shop, client: sender } = await openSharedShop();
await addSender(database, shop.id, 'orders@shop.test', { displayNames: ['Demo Shop'] });
await publishShopTemplate(database, shop, {
  id: 't-secret',
  sender: 'orders@shop.test',
  source: {
    subject: 'Reset for {{Name}}',
    previewText: 'A new password',
    html: '<p>{{Name}}: <a href="{{Link}}">reset</a> {{Code}}</p>',
    fields: { Link: { secret: true }, Code: { secret: true } },
  },
});

function values(name: string): Record<string, unknown> {
  return {
    personalizationDataMap: { Name: name, Link: 'https://shop.test/s3cret', Code: 'c0de-1' },
  };
}

async function send(name: string, to: string, more: Record<string, Record<string, unknown>> = {}) {
  const body = bodyWith({ envelope: { toAddress: to }, content: values(name), ...more });
  return sender.accept({ template: 't-secret', body });
}

type Item = { id: string; to: string; state: string };

test('messages are listed newest first, page by page, and filtered', async () => {
  await owner.put(`${path}/queue/pauses/*`);
  const ids: string[] = [];
  for (let n = 0; n < 5; n += 1)
    ids.push(await send('Ann', `p${n}@people.test`, { metadata: { externalId: `x-${n}` } }));
  const first = await owner.get(`${path}/messages?limit=3`);
  const items = first.body.items as Item[];
  assert.deepEqual(
    items.map(({ id }) => id),
    [...ids].reverse().slice(0, 3),
  );
  const next = await owner.get(`${path}/messages?limit=3&cursor=${first.body.nextCursor}`);
  assert.deepEqual(
    (next.body.items as Item[]).map(({ id }) => id),
    [ids[1], ids[0]],
  );
  // A page that ran out of time has a next page, which is empty here.
  for (let cursor = next.body.nextCursor; cursor !== null; ) {
    const { body } = await owner.get(`${path}/messages?limit=3&cursor=${cursor}`);
    assert.deepEqual(body.items, []);
    cursor = body.nextCursor;
  }
  for (const query of ['waiting=true', 'state=queued', 'recipient=P']) {
    const { body } = await owner.get(`${path}/messages?${query}`);
    assert.equal((body.items as Item[]).length, 5, query);
  }
  for (const query of ['externalId=x-2', 'recipient=P2%40people.test', 'recipient=p2']) {
    await waitFor(`the message by ${query}`, async () => {
      const { body } = await owner.get(`${path}/messages?${query}`);
      const found = (body.items as Item[]).map(({ id }) => id);
      return found.length === 1 && found[0] === ids[2];
    });
  }
  await waitFor('the messages of the template', async () => {
    const { body } = await owner.get(`${path}/messages?templateId=t-secret`);
    return (body.items as Item[]).length === 5;
  });
  const none = await owner.get(`${path}/messages?until=2020-01-01T00:00:00Z`);
  assert.deepEqual(none.body.items, []);
});

test('secret values are masked for every role, in values and rendered content', async () => {
  const id = await send('Bob', 'bob@people.test');
  for (const role of ['owner', 'viewer'] as const) {
    const client = role === 'owner' ? owner : await as(role);
    const message = await client.get(`${path}/messages/${id}`);
    assert.equal(message.status, 200, message.text);
    const rendered = await client.get(`${path}/messages/${id}/rendered`);
    assert.match(String(rendered.body.html), /Bob/);
    for (const text of [message.text, rendered.text]) {
      assert.equal(text.includes('s3cret'), false);
      assert.equal(text.includes('c0de-1'), false);
    }
  }
});

test('a message is paused, resumed, canceled and resent', async () => {
  const id = await send('Cid', 'cid@people.test');
  const message = `${path}/messages/${id}`;
  assert.deepEqual((await owner.post(`${message}/pause`)).body, { changed: 1, busy: 0 });
  assert.deepEqual((await owner.post(`${message}/pause`)).body, { changed: 0, busy: 0 });
  const held = await owner.get(message);
  assert.deepEqual(held.body.nextAttempt, {
    at: null,
    reason: 'paused manually',
    paused: 'message',
  });
  const [sentence] = (held.body.recipients as { explanation: { sentence: string } }[]).map(
    ({ explanation }) => explanation.sentence,
  );
  assert.equal(sentence, 'It is paused.');
  assert.equal((await owner.post(`${message}/resume`)).body.changed, 1);
  const again = await owner.post(`${message}/resend`);
  assert.equal(again.status, 201, again.text);
  assert.notEqual(again.body.messageId, id);
  assert.equal((await owner.post(`${message}/cancel`)).body.changed, 1);
  const viewer = await as('viewer');
  assert.equal((await viewer.post(`${message}/retry`)).status, 403);
  await owner.delete(`${path}/queue/pauses/*`);
  await waitFor('the message to be canceled', async () => {
    const { body } = await owner.get(message);
    return body.state === 'canceled';
  });
  await waitFor('the other to be delivered', async () => {
    const { body } = await owner.get(`${path}/messages/${again.body.messageId}`);
    return body.state === 'delivered';
  });
  const delivered = await owner.get(`${path}/messages/${again.body.messageId}`);
  const [to] = delivered.body.recipients as { explanation: { sentence: string } }[];
  assert.match(String(to?.explanation.sentence), /server accepted it/);
  const erased = await owner.post(`${path}/messages/${again.body.messageId}/resend`);
  assert.equal(erased.status, 409, 'secret values are erased at the end');
  assert.equal(delivered.body.subject, 'Reset for Cid', 'what the subject is made of is kept');
});

test('mail to a destination is sent immediately when its pause is removed', async () => {
  await owner.put(`${path}/queue/pauses/z4.test`);
  const message = `${path}/messages/${await send('Eve', 'eve@z4.test')}`;
  // The worker may be about to find that it has to wait.
  const waiting = await waitFor('the message to wait', async () => {
    const found = await owner.get(message);
    return found.body.state === 'queued' && found;
  });
  const next = { at: null, reason: 'its destination is paused', paused: 'destination' };
  assert.deepEqual(waiting.body.nextAttempt, next);
  const { body: list } = await owner.get(`${path}/messages?recipient=eve@z4&waiting=true`);
  const [line] = list.items as { paused: boolean; nextAttemptAt: unknown }[];
  assert.deepEqual([line?.paused, line?.nextAttemptAt], [true, null]);
  assert.equal((await owner.delete(`${path}/queue/pauses/z4.test`)).status, 204);
  await waitFor('the message to be delivered', async () => {
    const { body } = await owner.get(message);
    return body.state === 'delivered';
  });
});

test('the queue is listed by destination; reports count the outcomes', async () => {
  await owner.put(`${path}/queue/pauses/people.test`);
  await send('Dan', 'dan@people.test');
  const queue = await owner.get(`${path}/queue`);
  assert.deepEqual(queue.body.paused, ['people.test']);
  assert.equal(queue.body.partial, false);
  const [destination] = queue.body.destinations as { destination: string; waiting: number }[];
  assert.equal(destination?.destination, 'people.test');
  assert.equal(
    (await owner.post(`${path}/queue/cancel`, { destination: 'people.test' })).status,
    200,
  );
  assert.equal((await owner.delete(`${path}/queue/pauses/people.test`)).status, 204);
  const until = new Date(Date.now() + 86_400_000).toISOString();
  const query = `from=2026-01-01T00:00:00Z&until=${until}&group=template`;
  await waitFor('the report', async () => {
    const { body } = await owner.get(`${path}/reports?${query}`);
    const [row] = body.rows as { key: string; counts: { delivered: number } }[];
    return row?.key === 't-secret' && row.counts.delivered > 0;
  });
  const csv = await owner.get(`${path}/reports-export?${query}`);
  assert.match(csv.text, /^template,accepted,delivered,/);
  for (const filter of ['tag=a', 'templateId=t-0001', 'senderDomain=shop.test']) {
    const destinations = query.replace('group=template', 'group=destination');
    const response = await owner.get(`${path}/reports?${destinations}&${filter}`);
    assert.equal(response.status, 422, filter);
    assert.match(response.text, /destinations are counted separately/);
  }
  const wrong = await owner.get(`${path}/reports?from=x&until=${until}`);
  assert.equal(wrong.status, 422);
});

testAccountFirst(5);
