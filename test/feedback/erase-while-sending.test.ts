import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { afterEach, test } from 'node:test';
import { erasePerson } from '../../src/feedback/privacy/person-data-store.ts';
import type { ComparableAddress } from '../../src/foundation/email-address.ts';
import type { MessageId } from '../../src/foundation/ids.ts';
import { account, DeliveryWorld } from '../support/delivery-world.ts';
import { type SinkManners, startSink } from '../support/mail-sink.ts';
import { waitFor } from '../support/wait-for.ts';

const world = await DeliveryWorld.create();
afterEach(() => world.close());

function erase(address: string) {
  return erasePerson(world.database.kysely, {
    accountId: account,
    address: address as ComparableAddress,
    requestedBy: 'officer',
    hashKey: createSecretKey(Buffer.alloc(32, 1)),
    keepSuppressions: true,
  });
}

/** Delivers to a server that answers the final dot once it is let go. */
async function startGated(manners: SinkManners = {}) {
  const gate = Promise.withResolvers<void>();
  const sink = await startSink({
    ...manners,
    onMessage: () => gate.promise.then(() => undefined),
  });
  world.deliverTo(sink.port);
  return gate;
}

async function sending(id: MessageId): Promise<void> {
  await waitFor('the dot', async () => (await world.entry(id))?.stage === 'dot');
}

async function ended(id: MessageId): Promise<void> {
  await waitFor('the queue entry to go', async () => (await world.entry(id)) === undefined);
}

test('a Cc address that is erased while its message is sent does not come back with the outcome', async () => {
  const gate = await startGated();
  const id = await world.accept({ cc: ['gone@people.test', 'bob@people.test'] });
  await sending(id);
  assert.equal((await erase('gone@people.test')).messages, 1);
  gate.resolve();
  await world.reaches(id, 'delivered');
  const { cc, values } = await world.content(id);
  assert.deepEqual(cc, ['erased@erased.invalid', 'bob@people.test']);
  assert.deepEqual(values, { Name: 'Ann', Link: null });
});

test('a Cc address that is erased while its message is sent is not tried again', async () => {
  const gate = await startGated({
    onRcpt: (address) => (/^(gone|bob)/.test(address) ? '450 4.2.1 Mailbox busy' : undefined),
  });
  const alone = await world.accept({ cc: ['gone@people.test'] });
  const beside = await world.accept({ cc: ['gone@people.test', 'bob@people.test'] });
  await sending(alone);
  await sending(beside);
  await erase('gone@people.test');
  gate.resolve();
  await ended(alone);
  assert.equal(await world.state(alone), 'delivered');
  assert.deepEqual((await world.content(alone)).values, { Name: 'Ann', Link: null });
  const entry = await world.rests(beside);
  assert.deepEqual([entry.pending, entry.held], [[2], []]);
});

test('a Cc address that is erased between two transactions of an attempt is not tried again', async () => {
  const id = await world.accept({ cc: ['gone@people.test', 'bob@people.test'] });
  const worker = world.worker(async (message, lease) => {
    if (message.attempt > 1) return { results: [], notes: [] };
    await erase('gone@people.test');
    const delivered = { recipient: 0, outcome: 'delivered' as const, reason: '250' };
    await lease.advance([delivered], [1, 2]);
    return {
      results: [1, 2].map((recipient) => ({ recipient, outcome: 'deferred', reason: '450' })),
      notes: [],
    };
  });
  worker.start();
  await world.reaches(id, 'delivered');
  assert.deepEqual((await world.rests(id)).pending, [2]);
});
