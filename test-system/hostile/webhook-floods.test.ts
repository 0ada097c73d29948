import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { permissionsOf } from '../../src/accounts/access/permission.ts';
import type { AccountId } from '../../src/base/values/ids.ts';
import { webhookKinds } from '../../src/content/message/event-kinds.ts';
import { addEndpoint, removeEndpoint } from '../../src/outcomes/webhook/endpoint-store.ts';
import { SecretBox } from '../../src/outcomes/webhook/secret-box.ts';
import { FeedbackShop } from '../../test/support/feedback-shop.ts';
import { openShop } from '../../test/support/shop.ts';
import { testKey } from '../../test/support/test-service.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { WebhookReceiver } from '../../test/support/webhook-receiver.ts';

const shop = await FeedbackShop.open({ WEBHOOK_NETWORKS: '127.0.0.0/8' });
await shop.publish('note', '<p>Note</p>');
const { kysely, pool } = shop.database;
const attacker = await openShop(shop.database, { id: '46300' });
const box = new SecretBox(testKey);
const permissions = permissionsOf.owner;

/** Requests that wait for their response. */
const open = new Set<object>();
let mostOpen = 0;
/** Accepts requests, and never responds. */
const silent = createServer((request, response) => {
  request.resume();
  open.add(request);
  mostOpen = Math.max(mostOpen, open.size);
  response.once('close', () => open.delete(request));
});
silent.listen(0, '127.0.0.1');
await once(silent, 'listening');
after(() => {
  silent.close();
  silent.closeAllConnections();
});
const { port } = silent.address() as AddressInfo;

const receiver = await WebhookReceiver.open();
await addEndpoint(kysely, box, shop.shop.id, {
  url: receiver.url,
  kinds: ['accepted'],
  permissions,
});

/** Delivered messages, as many sends would write them. */
async function flood(accountId: AccountId, messages: number): Promise<void> {
  await pool.query(
    `with accepted as (
       insert into message (account_id, id, retention_days, template_id, template_version, transactional, track_opens, track_clicks,
         deliver_when_delayed, client_id, accepted_at, state_at, content)
       select $1, gen_random_uuid(), 90, 'note', 1, false, false, false, true, 'test', now(), now(), '{"to":"a@people.test"}'
       from generate_series(1, $2)
       returning account_id, id, retention_days)
     insert into message_event (account_id, message_id, retention_days, id, at, kind, recipient)
     select account_id, id, retention_days, gen_random_uuid(), now(), 'delivered', 0 from accepted`,
    [accountId, messages],
  );
}

/** Sends a message of the account that floods nobody. @returns milliseconds until its webhook arrived */
async function timeOfEvent(): Promise<number> {
  const { status, body } = await shop.client.send({ template: 'note' });
  assert.equal(status, 200);
  const startedAt = performance.now();
  await waitFor(
    'the event of the other account',
    () => receiver.received.some(({ body: event }) => event.data.messageId === body.messageId),
    60_000,
  );
  return performance.now() - startedAt;
}

/** Of 24 leases with up to four requests each, one account leaves six to the others. */
const maxOpen = (24 - 6) * 4;

test('ASVS 4.0.3 11.1.4: an account with 50 slow endpoints and 2,000 messages doesn’t delay the webhooks of others', async () => {
  // A busy machine needs longer even without a flood.
  const maxMs = Math.max(5_000, 4 * (await timeOfEvent()));
  const url = `http://127.0.0.1:${port}/hook`;
  const endpoints: string[] = [];
  for (let count = 0; count < 50; count += 1) {
    const settings = { url, kinds: webhookKinds, permissions };
    endpoints.push((await addEndpoint(kysely, box, attacker.id, settings)).id);
  }
  await flood(attacker.id, 2_000);
  await waitFor('requests of the flood', () => open.size > 0, 60_000);
  for (let count = 0; count < 3; count += 1) {
    const ms = await timeOfEvent();
    assert.ok(ms < maxMs, `${ms} ms`);
  }
  assert.ok(mostOpen <= maxOpen, `${mostOpen} requests at the same time`);
  for (const endpoint of endpoints) await removeEndpoint(kysely, attacker.id, endpoint);
  const ms = await timeOfEvent();
  assert.ok(ms < maxMs, `${ms} ms after they were removed`);
});
