import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import type { MessageId } from '../../src/base/values/ids.ts';
import { holdAfter } from '../../src/sending/queue/attempt.ts';
import { QueueControlStore } from '../../src/sending/queue/control-store.ts';
import { endOrphanedLeases } from '../../src/sending/queue/orphaned-lease-store.ts';
import { account, DeliveryWorld } from '../../test/support/delivery-world.ts';
import { startSink } from '../../test/support/mail-sink.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const world = await DeliveryWorld.create();
const lease = 2_500;
const children: ChildProcess[] = [];

afterEach(async () => {
  for (const child of children.splice(0)) await end(child);
  await world.close();
});

function startWorker(port: number, poison = ''): ChildProcess {
  const program = join(import.meta.dirname, '../../test/support/worker-process.ts');
  const child = spawn(process.execPath, [program, world.url, String(port), String(lease), poison], {
    stdio: 'ignore',
  });
  children.push(child);
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

test('if a worker is killed before the final dot, another one sends the message once, and nothing is uncertain', async () => {
  const atRecipient = Promise.withResolvers<void>();
  let hold = true;
  const sink = await startSink({
    options: {
      async onRcptTo(_address, _session, callback) {
        atRecipient.resolve();
        // The first worker gets no reply here and is killed while waiting for it.
        if (hold) return;
        callback();
      },
    },
  });
  const id = await world.accept();
  const victim = startWorker(sink.port);
  await atRecipient.promise;
  hold = false;
  await end(victim);
  assert.equal((await world.entry(id))?.stage, 'claimed');
  startWorker(sink.port);
  await world.waitForState(id, 'delivered');
  assert.equal(sink.mails.length, 1);
  assert.deepEqual(
    (await world.events(id)).map(({ kind }) => kind),
    ['delivered'],
  );
});

test('if a worker is killed after the final dot, the message is recorded as uncertain and sent again with the same Message-ID', async () => {
  const gate = Promise.withResolvers<void>();
  const sources: string[] = [];
  const sink = await startSink({
    onMessage: async (mail) => {
      sources.push(mail.source);
      if (sources.length === 1) await gate.promise;
      return undefined;
    },
  });
  const id = await world.accept();
  const victim = startWorker(sink.port);
  await waitFor('the dot', () => sources.length === 1);
  await end(victim);
  gate.resolve();
  startWorker(sink.port);
  await world.waitForState(id, 'delivered');
  assert.equal(sources.length, 2);
  assert.equal(sources[0], sources[1]);
  assert.deepEqual(
    (await world.events(id)).map(({ kind }) => kind),
    ['uncertain', 'delivered'],
  );
});

test('a worker suspended for longer than its lease causes one delivery and nothing uncertain', async () => {
  const atRecipient = Promise.withResolvers<void>();
  let answerFirst: (() => void) | undefined;
  const sink = await startSink({
    options: {
      onRcptTo(_address, _session, callback) {
        if (answerFirst !== undefined) return callback();
        answerFirst = () => callback();
        atRecipient.resolve();
      },
    },
  });
  const id = await world.accept();
  const suspended = startWorker(sink.port);
  await atRecipient.promise;
  suspended.kill('SIGSTOP');
  answerFirst?.();
  startWorker(sink.port);
  await world.waitForState(id, 'delivered');
  suspended.kill('SIGCONT');
  const after = await world.accept();
  await world.waitForState(after, 'delivered');
  await end(suspended);
  const copies = sink.mails.filter(({ source }) => source.includes(id));
  assert.equal(copies.length, 1);
  assert.deepEqual(
    (await world.events(id)).map(({ kind }) => kind),
    ['delivered'],
  );
});

/** A message to three recipients; its worker is killed after the dot of one, when the others have theirs. */
async function killedInOneTransaction() {
  const last = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  let held = false;
  const sink = await startSink({
    onMessage: async ({ to }) => {
      if (to[0] !== 'cy@people.test' || held) return undefined;
      held = true;
      last.resolve();
      await gate.promise;
      return '451 nobody listens any more';
    },
  });
  const id = await world.accept({ cc: ['bob@people.test', 'cy@people.test'] });
  const victim = startWorker(sink.port);
  await last.promise;
  await waitFor('the others', async () => (await world.entries(id)).length === 1);
  await end(victim);
  gate.resolve();
  const kinds = async () =>
    (await world.events(id)).map(({ kind, recipient }) => `${kind} ${recipient}`);
  return { sink, id, kinds };
}

test('if a worker is killed in the transaction of one recipient, the other outcomes stay, and only that one is uncertain', async () => {
  const { sink, id, kinds } = await killedInOneTransaction();
  const entry = await world.entry(id);
  assert.deepEqual([entry?.stage, entry?.recipient], ['dot', 2]);
  assert.equal(await world.state(id), 'delivered');
  startWorker(sink.port);
  await waitFor('the queue entry to go', async () => (await world.entry(id)) === undefined);
  assert.deepEqual((await kinds()).sort(), [
    'delivered 0',
    'delivered 1',
    'delivered 2',
    'uncertain 2',
  ]);
  assert.deepEqual(sink.mails.map(({ to }) => to.join()).sort(), [
    'ann@people.test',
    'bob@people.test',
    'cy@people.test',
  ]);
});

test('… and if the template asks to hold, only that one is held, even if the next worker is killed before recording it', async () => {
  await world.database.pool.query("update template set when_uncertain = 'hold'");
  try {
    const { sink, id, kinds } = await killedInOneTransaction();
    await waitFor('the lease to end', async () => ((await world.entry(id))?.due_in ?? 1) <= 0);
    const [claimed] = await world.stores(lease).claims.claim([account], 1);
    assert.deepEqual([claimed?.recipient, claimed?.doubtful], [2, true]);
    startWorker(sink.port);
    await waitFor('the recipient to be held', async () => (await world.entry(id))?.held);
    assert.deepEqual((await kinds()).sort(), ['delivered 0', 'delivered 1', 'uncertain 2']);
    assert.equal(sink.mails.length, 2);
  } finally {
    await world.database.pool.query("update template set when_uncertain = 'resend'");
  }
});

test('… and if several were in doubt, each of them is held', async () => {
  await world.database.pool.query("update template set when_uncertain = 'hold'");
  try {
    const id = await world.accept({ cc: ['bob@people.test'] });
    const { claims, leases } = world.stores(lease);
    assert.deepEqual(await leases.markDots(await claims.claim([account], 2)), [true, true]);
    await endOrphanedLeases(world.database);
    const sink = await startSink();
    startWorker(sink.port);
    await waitFor('both to be held', async () => {
      const entries = await world.entries(id);
      return entries.length === 2 && entries.every(({ held }) => held);
    });
    assert.equal(sink.mails.length, 0);
    const events = await world.events(id);
    assert.deepEqual(
      events.map(({ kind, recipient }) => `${kind} ${recipient}`),
      ['uncertain 0', 'uncertain 1'],
    );
  } finally {
    await world.database.pool.query("update template set when_uncertain = 'resend'");
  }
});

test('a message that ends each process that sends it is held for review; those that were sent beside it are not', async () => {
  const sink = await startSink();
  const poison = await world.accept({ to: 'poison@people.test' });
  let processes = 0;
  const sendBeside = async (others: readonly MessageId[]): Promise<void> => {
    while ((await world.state(poison)) === 'queued') {
      processes += 1;
      const child = startWorker(sink.port, 'poison@people.test');
      await Promise.race([once(child, 'exit'), world.waitForState(poison, 'failed')]);
      // The last process lives on: killed while it sends another message alone, it would make that one suspect.
      if (child.exitCode === null)
        for (const id of others) await world.waitForState(id, 'delivered');
      await end(child);
      await endOrphanedLeases(world.database);
    }
  };
  await sendBeside([await world.accept(), await world.accept()]);
  assert.equal(processes, holdAfter + 1);
  const entry = await world.waitUntilIdle(poison);
  assert.deepEqual([entry.held, entry.due_in], [true, Number.POSITIVE_INFINITY]);
  assert.match(String(entry.reason), /stopped unexpectedly 4 times while sending it/);
  const [event] = await world.events(poison);
  assert.deepEqual([event?.kind, event?.detail.reason], ['failed', entry.reason]);
  // Retried, it is still suspect, so it ends no more than two processes, and nothing beside it.
  await new QueueControlStore(world.database).control('retry', {
    accountId: account,
    messageId: poison,
  });
  await world.database.pool.query("update message set state = 'queued' where id = $1", [poison]);
  await sendBeside([await world.accept()]);
  assert.equal(processes, holdAfter + 1 + 3);
});
