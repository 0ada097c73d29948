import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openSharedShop } from '../../support/test-shop.ts';
import { waitFor } from '../../support/wait-for.ts';

const { client, owner, path } = await openSharedShop();

test('data about a person is exported and erased', async () => {
  const sent = await client.send();
  const person = `${path}/people/Reader@example.test`;
  const lines = await waitFor('the message to be found', async () => {
    const { text } = await owner.get(person);
    // Values are masked as long as the message may still be sent.
    return /"state":"delivered"/.test(text) && text;
  });
  assert.ok(lines.includes(String(sent.body.messageId)));
  assert.match(lines, /A-1001/);
  await owner.put(`${path}/suppressions/reader@example.test`, {});
  await waitFor('the delivery', async () => {
    const { body } = await owner.get(`${path}/messages/${sent.body.messageId}`);
    return body.state === 'delivered';
  });
  const erased = await owner.delete(person);
  assert.deepEqual(erased.body, { messages: 1, contacts: 0, suppressions: 0 });
  const message = await owner.get(`${path}/messages/${sent.body.messageId}`);
  assert.equal(message.body.content, null);
  const audit = await owner.get(`${path}/audit`);
  assert.equal(audit.text.includes('reader@example.test'), false, 'of the suppression');
});

test('an account sets its retention rule', async () => {
  const rule = `${path}/retention-rule`;
  const before = await owner.get(rule);
  assert.deepEqual(before.body, { contentDays: null, addressDays: null, engagementDays: null });
  const wanted = { contentDays: 7, addressDays: null, engagementDays: 3 };
  assert.deepEqual((await owner.put(rule, wanted)).body, wanted);
});

test('a missing required member of a PUT is reported', async () => {
  const { status, body } = await owner.put(`${path}/retention-rule`, { contentDays: null });
  assert.equal(status, 422);
  assert.deepEqual(body.errors, [
    { field: 'addressDays', reason: 'is required' },
    { field: 'engagementDays', reason: 'is required' },
  ]);
});

test('invalid retention days are rejected with the broken rule', async () => {
  for (const contentDays of [1, 0, -3, 'x', 3.5, 99_999, [7], {}]) {
    const wrong = { contentDays, addressDays: null, engagementDays: null };
    const { status, body } = await owner.put(`${path}/retention-rule`, wrong);
    assert.equal(status, 422);
    assert.deepEqual(body.errors, [
      { field: 'contentDays', reason: 'must be a whole number from 3 to 400, or null' },
    ]);
  }
});

test('attention items include the next step', async () => {
  const { body } = await owner.get(`${path}/attention`);
  const items = body.items as { kind: string; nextStep: string }[];
  assert.ok(items.every(({ nextStep }) => nextStep !== ''));
  await owner.put(`${path}/domains/shop.test`, {});
  await owner.put(`${path}/queue/pauses/slow.test`);
  const after = await owner.get(`${path}/attention`);
  const kinds = (after.body.items as { kind: string; subject: string }[]).map(
    ({ kind, subject }) => `${kind} ${subject}`,
  );
  assert.deepEqual(kinds, ['paused slow.test', 'domain-pending shop.test']);
});
