import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulatedOutcome } from '../../../src/base/values/simulated-address.ts';
import { FeedbackShop } from '../../support/feedback-shop.ts';
import { bodyWith } from '../../support/send-client.ts';
import { waitFor } from '../../support/wait-for.ts';

const shop = await FeedbackShop.openShared();
await shop.publish('note', '<p>Note</p>');

async function send(to: string, cc: readonly string[] = []) {
  return await shop.client.send({
    template: 'note',
    body: bodyWith({
      envelope: { toAddress: to, ccAddressList: cc },
      content: { personalizationDataMap: {} },
    }),
  });
}

async function endOf(to: string): Promise<{ id: string; state: string }> {
  const response = await send(to);
  assert.equal(response.status, 200, response.text);
  const id = String(response.body.messageId);
  const state = await waitFor('an outcome', async () => {
    const found = await shop.state(id);
    return found !== 'queued' && found;
  });
  return { id, state };
}

test('addresses of the reserved domain name their outcome, ignoring case and plus suffixes', () => {
  assert.equal(simulatedOutcome('Bounce+7@Simulator.test'), 'bounce');
  assert.equal(simulatedOutcome('defer@simulator.test'), 'defer');
  assert.equal(simulatedOutcome('anyone@simulator.test'), 'bounce');
  assert.equal(simulatedOutcome('bounce@notsimulator.test'), undefined);
  assert.equal(simulatedOutcome('bounce@simulator.test.example'), undefined);
});

test('mail to the reserved domain is delivered, bounced, deferred or complained about, and never sent', async () => {
  assert.equal((await endOf('delivered@simulator.test')).state, 'delivered');
  assert.equal((await endOf('defer@simulator.test')).state, 'deferred');
  const bounced = await endOf('bounce+1@simulator.test');
  assert.equal(bounced.state, 'bounced');
  assert.equal((await shop.events(bounced.id, 'bounced'))[0]?.detail.cause, 'no-mailbox');
  const complained = await endOf('complaint@simulator.test');
  assert.equal(complained.state, 'delivered');
  const [event] = await shop.waitForEvents(complained.id, 'complained');
  assert.deepEqual([event?.recipient, event?.detail.by], [0, 'simulator']);
  const { rows } = await shop.database.pool.query(
    "select envelope_to from inbox_message where envelope_to::text ilike '%@simulator.test%'",
  );
  assert.deepEqual(rows, []);
});

test('the same address has the same outcome every time', async () => {
  await endOf('bounce+2@simulator.test');
  assert.equal((await endOf('bounce+2@simulator.test')).state, 'bounced');
});

test('suppressed@ is rejected as To and skipped as Cc', async () => {
  const refused = await send('suppressed@simulator.test');
  assert.equal(refused.status, 400);
  assert.equal(refused.body.errorName, 'RECIPIENT_SUPPRESSED');
  assert.deepEqual(refused.body.suppressedRecipients, ['suppressed@simulator.test']);
  const left = await send('delivered@simulator.test', [
    'suppressed+x@simulator.test',
    'a@people.test',
  ]);
  assert.equal(left.status, 200);
  assert.deepEqual(left.body.suppressedRecipients, ['suppressed+x@simulator.test']);
});
