import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeliveryWorld } from '../../support/delivery-world.ts';
import { runInProcess } from '../../support/run-command.ts';

const world = await DeliveryWorld.create();
const environment = { DATABASE_URL: world.url };

function run(...args: string[]) {
  return runInProcess(['queue', ...args], environment);
}

test('waiting messages are canceled from the command line, and counted', async () => {
  const id = await world.accept();
  await world.accept();
  const one = await run('cancel', 'a1', id);
  assert.equal(one.out, '1 message canceled.\n', one.err);
  const all = await run('retry', 'a1', '--destination', 'people.test');
  assert.equal(all.out, '1 message due now.\n', all.err);
});

test('an account is paused and resumed from the command line', async () => {
  assert.equal((await run('pause', 'a1')).out, 'Done: the account is paused.\n');
  assert.equal((await run('resume', '--account', 'a1')).out, 'Done: the account is resumed.\n');
});

test('a message that is not waiting is reported, with exit code 1', async () => {
  const response = await run(...['retry', 'a1', '01900000-0000-7000-8000-000000000000']);
  assert.equal(response.code, 1);
  assert.equal(response.out, '0 messages due now.\n');
});

test('an invalid id gives a one-sentence message', async () => {
  const response = await run('cancel', '--account', 'a1', '--message', 'nonsense');
  assert.equal(response.code, 1);
  assert.match(response.err, /^signalpost: "nonsense" is not a valid message ID/);
});

test('the list says why most messages for a destination are waiting, and where it stops counting', async () => {
  const { pool } = world.database;
  await pool.query('delete from queued_delivery');
  const store = async (count: number) => {
    await pool.query(
      `with ids as (select gen_random_uuid() as id from generate_series(1, $1::int)),
       stored as (
         insert into message (account_id, id, retention_days, template_id, template_version, transactional, track_opens,
           track_clicks, deliver_when_delayed, client_id, accepted_at, state_at, content)
         select 'a1', id, 90, 't1', 1, true, false, false, true, 'c', now(), now(), '{"to": "ann@people.test"}' from ids)
       insert into queued_delivery (account_id, message_id, retention_days, priority, due_at, expires_at, recipient)
       select 'a1', id, 90, 1, now(), now() + interval '48 hours', 0 from ids`,
      [count],
    );
  };
  const list = async () => (await run('list', 'a1')).out;
  await store(3);
  const enqueue = (count: number) =>
    pool.query(
      `update queued_delivery set reason = 'its server is slow'
       where message_id in (select message_id from queued_delivery order by message_id limit $1)`,
      [count],
    );
  await enqueue(1);
  assert.match(
    await list(),
    /^DESTINATION +WAITING +NEXT ATTEMPT +REASON\npeople\.test +3 +\S+Z +-\n$/,
  );
  await enqueue(2);
  assert.match(await list(), /\npeople\.test +3 +\S+Z +its server is slow\n$/);
  await store(9_998);
  assert.match(await list(), /\npeople\.test +10,000 or more +\S+Z +-\n$/);
});

test('only domain names can be paused; an existing pause of another name can be lifted', async () => {
  const refused = await run('pause', '--account', 'a1', '--destination', 'x y');
  assert.equal(refused.code, 1);
  assert.match(
    refused.err,
    /^signalpost: --destination must be a domain name with at least two labels/,
  );
  await world.database.pool.query(
    `insert into delivery_pause values ('a1', 'x y'), ('a1', 'bücher.test')`,
  );
  for (const destination of ['X y', 'bücher.test']) {
    const resumed = await run('resume', '--account', 'a1', '--destination', destination);
    assert.equal(resumed.out, `Done: mail to ${destination.toLowerCase()} is resumed.\n`);
  }
  const wide = () => run('pause', '--account', 'a1', '--destination', 'Bücher.test');
  assert.equal((await wide()).out, 'Done: mail to xn--bcher-kva.test is paused.\n');
  const again = await wide();
  assert.equal(again.out, 'Nothing to do: mail to xn--bcher-kva.test is already paused.\n');
});

test('a nonexistent account is reported, with exit code 1', async () => {
  for (const action of ['list', 'cancel', 'pause', 'resume', 'retry']) {
    const response = await run(action, '--account', '9999');
    assert.equal(response.code, 1, action);
    assert.equal(response.err, 'signalpost: Account 9999 not found.\n', action);
  }
});
