import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { afterEach, test } from 'node:test';
import type { ComparableAddress } from '../../../src/base/values/email-address.ts';
import type { MessageId } from '../../../src/base/values/ids.ts';
import { readWaitingDestinations } from '../../../src/operating/management/message/queue-page-store.ts';
import { erasePerson } from '../../../src/outcomes/retention/person-data-store.ts';
import { account, DeliveryWorld } from '../../support/delivery-world.ts';
import { type SinkBehavior, startSink } from '../../support/mail-sink.ts';
import { waitFor } from '../../support/wait-for.ts';

const world = await DeliveryWorld.create();
afterEach(() => world.close());

const deferred = '451 4.3.0 Not now';

function erase(address: string) {
  return erasePerson(world.database.kysely, {
    accountId: account,
    address: address as ComparableAddress,
    requestedBy: 'officer',
    hashKey: createSecretKey(Buffer.alloc(32, 1)),
    keepSuppressions: true,
  });
}

/** Delivers to a server that replies to the final dot once it is released. */
async function startGated(manners: SinkBehavior & { readonly reply?: string } = {}) {
  const gate = Promise.withResolvers<void>();
  const sink = await startSink({
    ...manners,
    onMessage: () => gate.promise.then(() => manners.reply),
  });
  world.deliverTo(sink.port);
  return { ...gate, sink };
}

async function sending(id: MessageId): Promise<void> {
  await waitFor('the dot', async () => (await world.entry(id))?.stage === 'dot');
}

async function ended(id: MessageId): Promise<void> {
  await waitFor('the queue entry to go', async () => (await world.entry(id)) === undefined);
}

test('a Cc address erased while others are sent to gets no mail, and does not come back with the outcome', async () => {
  const id = await world.accept({ cc: ['gone@people.test', 'bob@people.test'] });
  const gate = Promise.withResolvers<void>();
  const sink = await startSink({
    // Its message is on the way when it is erased, and the others are at their dot.
    onRcpt: (address) =>
      address.startsWith('gone') ? gate.promise.then(() => undefined) : undefined,
    onMessage: () => gate.promise.then(() => undefined),
  });
  world.deliverTo(sink.port);
  await waitFor('the dots of the others', async () => {
    const stages = (await world.entries(id)).map(({ stage }) => stage);
    return stages.join() === 'dot,claimed,dot';
  });
  assert.equal((await erase('gone@people.test')).messages, 1);
  gate.resolve();
  await ended(id);
  assert.equal(await world.state(id), 'delivered');
  assert.deepEqual(sink.mails.map(({ to }) => to.join()).sort(), [
    'ann@people.test',
    'bob@people.test',
  ]);
  const { cc, values } = await world.content(id);
  assert.deepEqual(cc, ['erased@erased.invalid', 'bob@people.test']);
  assert.deepEqual(values, { Name: 'Ann', Link: null });
  assert.deepEqual(
    (await world.events(id)).map(({ kind, recipient }) => `${kind} ${recipient}`).sort(),
    ['delivered 0', 'delivered 2'],
  );
});

test('the others don’t see that a Cc address was erased before their mail was sent', async () => {
  const sink = await startSink();
  const id = await world.accept({ cc: ['gone@people.test', 'bob@people.test'] });
  await erase('gone@people.test');
  world.deliverTo(sink.port);
  await world.waitForState(id, 'delivered');
  const sources = sink.mails.map(({ source }) => source);
  assert.ok(sources.length > 0);
  for (const source of sources) {
    assert.doesNotMatch(source, /erased/);
    assert.match(source, /^Cc: bob@people\.test\r$/m);
  }
});

test('a Cc address erased during sending is not retried', async () => {
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
  await waitFor('the others', async () => (await world.entries(beside)).length === 1);
  assert.equal((await world.waitUntilIdle(beside)).recipient, 2);
});

test('a message that waits only for an erased Cc ends at once, with its secret values erased', async () => {
  const sink = await startSink({
    onRcpt: (address) => (address.startsWith('gone') ? '450 4.2.1 Mailbox busy' : undefined),
  });
  world.deliverTo(sink.port);
  const id = await world.accept({ cc: ['gone@people.test'] });
  await world.waitForState(id, 'delivered');
  await world.waitUntilIdle(id);
  await erase('gone@people.test');
  await ended(id);
  assert.equal(await world.state(id), 'delivered');
  assert.deepEqual((await world.content(id)).values, { Name: 'Ann', Link: null });
});

test('a message to an erased person that waits for its next attempt or is held is canceled at once', async () => {
  const sink = await startSink({ onMessage: () => deferred });
  world.deliverTo(sink.port);
  const later = await world.accept({ to: 'gone@people.test' });
  const held = await world.accept({ to: 'gone@people.test', subjectLine: '{{#broken' });
  await world.waitForState(later, 'deferred');
  await world.waitForState(held, 'failed');
  await world.waitUntilIdle(later);
  await world.waitUntilIdle(held);
  assert.equal((await erase('gone@people.test')).messages, 2);
  await world.waitForState(later, 'canceled');
  await world.waitForState(held, 'canceled');
  await ended(later);
  await ended(held);
});

test('a message being sent to an erased person is canceled if it would wait again', async () => {
  const gate = await startGated({ reply: deferred });
  const id = await world.accept({ to: 'gone@people.test', cc: ['bob@people.test'] });
  await sending(id);
  await erase('gone@people.test');
  assert.equal(await world.state(id), 'queued');
  gate.resolve();
  await world.waitForState(id, 'canceled');
  await ended(id);
});

test('a message with erased content waits for no destination', async () => {
  const id = await world.accept({ to: 'gone@elsewhere.test' });
  const other = await world.accept({ to: 'ann@people.test' });
  await erase('gone@elsewhere.test');
  assert.ok(await world.entry(id));
  const { destinations } = await readWaitingDestinations(world.database.kysely, account);
  assert.deepEqual(
    destinations.map(({ destination }) => destination),
    ['people.test'],
  );
  const sink = await startSink();
  world.deliverTo(sink.port);
  await ended(id);
  await ended(other);
});
