import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DirectShop } from '../../support/direct-shop.ts';
import { signInToManagement } from '../../support/management-client.ts';
import { runInProcess } from '../../support/run-command.ts';
import { waitFor } from '../../support/wait-for.ts';

const direct = await DirectShop.open('127.0.0.86=mail.sender.test', {
  address: '127.0.0.85',
  port: 0,
  onData: () => '421 4.7.28 Our system has detected an unusual rate, try again in 300 seconds',
});
direct.zones
  .set('gmail.test', { MX: [[5, 'gmail-smtp-in.l.google.com']] })
  .set('gmail-smtp-in.l.google.com', { A: ['127.0.0.85'] });
const manager = await signInToManagement(direct.service, direct.shop.owner.email);
const account = `/accounts/${direct.shop.id}`;
const sentence =
  /waiting: Gmail throttled us at \d\d:\d\d(:\d\d)?, [\d.]+\/(min|s) now, next at \d\d:\d\d(:\d\d)? \(UTC\)/;

async function run(...args: string[]): Promise<string> {
  const settings = { DATABASE_URL: direct.databaseUrl, ...direct.environment };
  const { code, out, err } = await runInProcess(args, settings);
  assert.equal(code, 0, err);
  return out;
}

test('a message waiting for a rate limit shows who asked for it, the current limit and the next attempt', async (t) => {
  const first = await direct.send('ann@gmail.test');
  await waitFor('the refusal', async () => /421 4\.7\.28/.test(await direct.reasonOf(first)));
  const id = await direct.send('bob@gmail.test');
  await waitFor('the wait', async () => sentence.test(await direct.reasonOf(id)));

  const { body: status } = await direct.client.status(id);
  await t.test('in the contract’s status', () => {
    assert.match(JSON.stringify(status), sentence);
    assert.equal(status.state, 'queued');
  });
  await t.test('in the management API', async () => {
    const shown = await manager.get(`${account}/messages/${id}`);
    assert.match(String((shown.body.nextAttempt as { reason: string }).reason), sentence);
    const queue = await manager.get(`${account}/queue`);
    assert.match(queue.text, /"destination":"gmail\.test","waiting":2/);
  });
  await t.test('on the command line', async () => {
    assert.match(await run('queue', 'list', direct.shop.id, id), sentence);
    assert.match(await run('queue', 'list', direct.shop.id), /^gmail\.test +2 +\d{4}-/m);
    assert.match(await run('destination', 'list'), /^google .*Z: .*4\.7\.28/m);
  });
});
