import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventFeed } from '../../../src/outcomes/feed/event-feed.ts';
import { readReport } from '../../../src/outcomes/report/read-report-store.ts';
import { rebuildReport, rollUp } from '../../../src/outcomes/report/roll-up-store.ts';
import { reclassifyEngagements } from '../../../src/outcomes/tracking/reclassify-store.ts';
import { account, DeliveryWorld } from '../../support/delivery-world.ts';

const world = await DeliveryWorld.create();
const { pool, kysely } = world.database;

test('opens counted as people are reclassified as machines once their reader is known, in events and reports', async () => {
  const feed = new EventFeed({ database: world.database, log: world.log, followers: [rollUp] });
  const id = await world.accept();
  const details = [
    { class: 'person', reason: 'old', userAgent: 'YahooMailProxy; x', network: '203.0.113.0/24' },
    {
      class: 'person',
      reason: 'old',
      userAgent: 'Mozilla/5.0 (X11) Firefox/144.0',
      network: '104.47.3.0/24',
    },
    {
      class: 'person',
      reason: 'old',
      userAgent: 'Mozilla/5.0 (X11) Firefox/144.0',
      network: '93.184.216.0/24',
    },
    {
      class: 'scanner',
      reason: 'came before the message was delivered',
      userAgent: 'Firefox/144.0',
      network: '93.184.216.0/24',
    },
    {
      class: 'scanner',
      reason: 'network: Barracuda',
      userAgent: 'Mozilla/5.0 (X11) Firefox/144.0',
      network: '35.157.190.0/24',
    },
    { class: 'person', reason: 'erased' },
  ];
  for (const detail of details)
    await pool.query(
      `insert into message_event (account_id, message_id, retention_days, id, at, kind, detail)
       values ($1, $2, 90, gen_random_uuid(), now(), 'opened', $3)`,
      [account, id, detail],
    );
  await feed.catchUp();
  const span = {
    from: new Date(Date.now() - 86_400_000),
    until: new Date(Date.now() + 86_400_000),
  };
  const people = async () =>
    (await readReport(kysely, account, { ...span, group: 'none', timeZone: 'UTC' }))[0]?.counts
      .opened_people;
  assert.equal(await people(), 4);
  assert.equal(await reclassifyEngagements(kysely, account, span.from, span.until), 2);
  assert.equal(await reclassifyEngagements(kysely, account, span.from, span.until), 0);
  await rebuildReport(kysely, account, span.from, span.until);
  assert.equal(await people(), 2);
});
