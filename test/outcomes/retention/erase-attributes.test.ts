import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '../../../src/base/values/ids.ts';
import { EventFeed } from '../../../src/outcomes/feed/event-feed.ts';
import { writeSearchRows } from '../../../src/outcomes/report/search-rows-store.ts';
import {
  applyRetentionRules,
  saveRetentionRule,
} from '../../../src/outcomes/retention/retention-store.ts';
import { account, DeliveryWorld } from '../../support/delivery-world.ts';

const world = await DeliveryWorld.create();
const { pool, kysely } = world.database;
const feed = new EventFeed({
  database: world.database,
  log: world.log,
  followers: [writeSearchRows],
});

async function accept(more: object): Promise<string> {
  const id = await world.accept();
  await pool.query(
    'update message set content = (content::jsonb || $2::jsonb)::json where id = $1',
    [id, more],
  );
  await pool.query('delete from queued_delivery where message_id = $1', [id]);
  await pool.query(
    `insert into webhook_delivery (account_id, endpoint_id, event_id, message_id, retention_days, kind, event_at, detail,
       last_request, last_answer)
     values ($1, $2, $3, $4, 90, 'delivered', now(), '{}', 'request', 'answer')`,
    [account, endpointId, newId(), id],
  );
  return id;
}

const endpointId = newId();
await pool.query(
  `insert into webhook_endpoint (account_id, id, url, kinds, secret) values ($1, $2, 'https://hook.test', '{delivered}', '\\x00')`,
  [account, endpointId],
);

test('a retention rule for content erases headers and attributes, also from search and the log of webhooks', async () => {
  const extras = { headers: { 'X-Order': 'A-1' }, attributes: { order: 'A-1' }, toName: 'Ann' };
  const id = await accept(extras);
  const plain = await accept({});
  await feed.catchUp();
  const found = async () =>
    (await pool.query('select message_id from message_attribute')).rows.map(
      ({ message_id }) => message_id,
    );
  assert.deepEqual(await found(), [id]);
  await saveRetentionRule(kysely, account, {
    contentDays: 3,
    addressDays: null,
    engagementDays: null,
  });
  await world.clock.advance(4 * 24 * 3_600_000);
  await applyRetentionRules(kysely);
  await world.clock.reset();
  const { headers, attributes, toName } = await world.content(id as never);
  assert.deepEqual([headers, attributes, toName], [undefined, undefined, 'Ann']);
  assert.deepEqual(await found(), []);
  const { rows } = await pool.query<{ id: string; last_request: string | null }>(
    'select message_id as id, last_request, last_answer from webhook_delivery',
  );
  const requestOf = (message: string) => rows.find((row) => row.id === message)?.last_request;
  assert.equal(requestOf(id), null);
  assert.equal(requestOf(plain), 'request');
});
