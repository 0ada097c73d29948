import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { PeriodicTask } from '../../src/base/threads/periodic-task.ts';

test('rounds run one interval apart, never two at a time, and stopping waits for the current one', async () => {
  let running = 0;
  let rounds = 0;
  const task = new PeriodicTask(10, async () => {
    running += 1;
    assert.equal(running, 1);
    await pause(25);
    rounds += 1;
    running -= 1;
  });
  task.start();
  task.start();
  assert.equal(running, 0);
  await pause(100);
  await task.stop();
  assert.equal(running, 0);
  const done = rounds;
  assert.ok(done >= 1);
  await pause(30);
  assert.equal(rounds, done);
});

test('a requested round starts at once, or right after the current one', async () => {
  let rounds = 0;
  const task = new PeriodicTask(60_000, async () => {
    await pause(5);
    rounds += 1;
  });
  await task.runNow();
  assert.equal(rounds, 0);
  task.start();
  const requested = [task.runNow(), task.runNow(), task.runNow()];
  await requested[0];
  assert.equal(rounds, 1);
  await Promise.all(requested);
  assert.equal(rounds, 2);
  await task.stop();
  await task.runNow();
  assert.equal(rounds, 2);
});

test('a failed round is reported, and the next one starts after the pause for failures', async () => {
  const errors: unknown[] = [];
  let rounds = 0;
  const task = new PeriodicTask(
    60_000,
    () => {
      rounds += 1;
      if (rounds === 1) throw new Error('away');
    },
    { retryMs: 10, onError: (error) => errors.push(error) },
  );
  task.start();
  await task.runNow();
  assert.equal(errors.length, 1);
  while (rounds < 2) await pause(5);
  await task.stop();
  assert.equal(errors.length, 1);
});
