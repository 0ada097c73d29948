import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventFeed } from '../../../src/outcomes/feed/event-feed.ts';
import { readReport } from '../../../src/outcomes/report/read-report-store.ts';
import { rollUp } from '../../../src/outcomes/report/roll-up-store.ts';
import { account, DeliveryWorld } from '../../support/delivery-world.ts';
import { runInProcess } from '../../support/run-command.ts';

const world = await DeliveryWorld.create();
const { pool, kysely } = world.database;
const day = 86_400_000;
const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

function reclassify(from: string, id: string = account) {
  const args = ['report', 'reclassify', id, '--from', from];
  return runInProcess(args, { DATABASE_URL: world.url });
}

test('opens by a reader that is now known as a machine are reclassified from the command line', async () => {
  const feed = new EventFeed({ database: world.database, log: world.log, followers: [rollUp] });
  const id = await world.accept();
  for (const userAgent of ['YahooMailProxy; x', 'Mozilla/5.0 (X11) Firefox/144.0'])
    await pool.query(
      `insert into message_event (account_id, message_id, retention_days, id, at, kind, detail)
       values ($1, $2, 90, gen_random_uuid(), now(), 'opened', $3)`,
      [account, id, { class: 'person', reason: 'old', userAgent, network: '93.184.216.0/24' }],
    );
  await feed.catchUp();
  const counts = async () => {
    const span = { from: new Date(Date.now() - day), until: new Date(Date.now() + day) };
    const query = { ...span, group: 'none', timeZone: 'UTC' } as const;
    const { accepted, opened_people, opened_machines } =
      (await readReport(kysely, account, query))[0]?.counts ?? {};
    return { accepted, opened_people, opened_machines };
  };
  assert.deepEqual(await counts(), { accepted: 1, opened_people: 2, opened_machines: 0 });
  const from = dayOf(Date.now() - day);
  const response = await reclassify(from);
  assert.equal(
    response.out,
    `1 open or click was reclassified; the report was recalculated from ${from}.\n`,
    response.err,
  );
  assert.equal(response.code, 0);
  assert.deepEqual(await counts(), { accepted: 1, opened_people: 1, opened_machines: 1 });
});

test("days with incomplete data are refused, and the report doesn't change", async () => {
  const old = await reclassify(dayOf(Date.now() - 200 * day));
  assert.equal(old.code, 1);
  assert.match(
    old.err,
    /^signalpost: --from must be a day from \d{4}-\d\d-\d\d, the first with complete data/,
  );
  await pool.query('insert into retention_rule (account_id, engagement_days) values ($1, 3)', [
    account,
  ]);
  const emptied = await reclassify(dayOf(Date.now() - 5 * day));
  assert.match(emptied.err, /^signalpost: --from must be a day from/);
});

test('an invalid day or account gives a one-sentence message', async () => {
  assert.match((await reclassify('yesterday')).err, /^signalpost: --from must be a day such as/);
  assert.match(
    (await reclassify(dayOf(Date.now()), 'a-9')).err,
    /^signalpost: Account a-9 not found/,
  );
});
