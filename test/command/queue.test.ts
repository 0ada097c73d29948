import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeliveryWorld } from '../support/delivery-world.ts';
import { runSignalpost } from '../support/run-signalpost.ts';

const world = await DeliveryWorld.create();
const environment = { DATABASE_URL: world.url };

async function run(...args: string[]) {
  const running = runSignalpost(['queue', ...args], environment);
  return { code: await running.exit, ...running.output };
}

test('waiting messages are canceled from the command line, with their number', async () => {
  const id = await world.accept();
  await world.accept();
  const one = await run('cancel', '--account', 'a1', '--message', id);
  assert.equal(one.stdout, '1 message canceled.\n', one.stderr);
  const all = await run('retry', '--account', 'a1', '--destination', 'people.test');
  assert.equal(all.stdout, '1 message due now.\n', all.stderr);
});

test('an account is paused and resumed from the command line', async () => {
  assert.equal((await run('pause', '--account', 'a1')).stdout, 'Done: the account is paused.\n');
  assert.equal((await run('resume', '--account', 'a1')).stdout, 'Done: the account is resumed.\n');
});

test('a message that does not wait is said, with exit code 1', async () => {
  const answer = await run(
    ...['retry', '--account', 'a1', '--message', '01900000-0000-7000-8000-000000000000'],
  );
  assert.equal(answer.code, 1);
  assert.equal(answer.stdout, '0 messages due now.\n');
});

test('an id that can be none is one sentence', async () => {
  const answer = await run('cancel', '--account', 'a1', '--message', 'nonsense');
  assert.equal(answer.code, 1);
  assert.match(answer.stderr, /^signalpost: --message must be the id of a message/);
});
