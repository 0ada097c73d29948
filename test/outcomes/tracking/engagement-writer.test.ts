import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { pino } from 'pino';
import type { AccountId } from '../../../src/base/values/ids.ts';
import { newId, newMessageId } from '../../../src/base/values/ids.ts';
import type { Engagement } from '../../../src/outcomes/tracking/engagement.ts';
import { EngagementWriter } from '../../../src/outcomes/tracking/engagement-writer.ts';
import { waitFor } from '../../support/wait-for.ts';

/** A store whose writes finish on command, like a database that hangs and recovers. */
class ManualStore {
  readonly written: Engagement[] = [];
  /** IDs of items that wait for the outcome of a delivery. */
  readonly undecided = new Set<string>();
  readonly logged: { level: number; lost?: number; msg: string }[] = [];
  readonly writer: EngagementWriter;
  concurrent = 0;
  maxConcurrent = 0;
  readonly #open: { items: readonly Engagement[]; end: (fault?: Error) => void }[] = [];

  constructor(maxWaiting?: number) {
    this.writer = new EngagementWriter({
      write: (items, decide) => this.#write(items, decide),
      log: pino({ level: 'warn' }, { write: (line) => void this.logged.push(JSON.parse(line)) }),
      holdMs: 1,
      ...(maxWaiting !== undefined && { maxWaiting }),
    });
  }

  async #write(items: readonly Engagement[], decide: boolean) {
    this.concurrent += 1;
    this.maxConcurrent = Math.max(this.maxConcurrent, this.concurrent);
    const undecided = new Set(decide ? [] : this.undecided);
    await new Promise<void>((resolve, reject) => {
      const end = (fault?: Error): void => (fault === undefined ? resolve() : reject(fault));
      this.#open.push({ items, end });
    }).finally(() => {
      this.concurrent -= 1;
    });
    this.written.push(...items.filter(({ id }) => !undecided.has(id)));
    return { full: new Set<string>(), undecided };
  }

  /** Finishes the next write with success or failure. */
  async end(fault?: Error): Promise<readonly Engagement[]> {
    const next = await waitFor('a write', () => this.#open.shift());
    next.end(fault);
    return next.items;
  }

  get lost(): number {
    return this.logged.reduce((sum, { lost = 0 }) => sum + lost, 0);
  }
}

function open(account: string | number = '46100'): Engagement {
  return {
    id: newId(),
    message: {
      accountId: String(account) as AccountId,
      messageId: newMessageId(),
      retentionDays: 30,
    },
    kind: 'opened',
    at: 0,
    link: undefined,
    hidden: false,
    verdict: { class: 'person', reason: 'no sign of a scanner or prefetch' },
    userAgent: 'x',
    network: '192.0.2.0/24',
  };
}

test('while a write hangs, no second one starts, and later items follow it', async () => {
  const store = new ManualStore();
  const [one, two, three] = [open(), open(), open()];
  store.writer.add(one);
  await waitFor('the first write', () => store.concurrent === 1);
  store.writer.add(two);
  // Timers of equal length fire in order: once the later writer has written, this one would have too.
  const later = new ManualStore();
  later.writer.add(open());
  await later.end();
  store.writer.add(three);
  assert.deepEqual(await store.end(), [one]);
  assert.deepEqual(await store.end(), [two, three]);
  await store.writer.stop();
  assert.equal(store.maxConcurrent, 1);
  assert.deepEqual(store.written, [one, two, three]);
  assert.equal(store.lost, 0);
});

test('a write that fails during shutdown is retried before the shutdown ends', async () => {
  const store = new ManualStore();
  const [one, two] = [open(), open()];
  store.writer.add(one);
  await waitFor('the first write', () => store.concurrent === 1);
  store.writer.add(two);
  const stopped = store.writer.stop();
  await store.end(new Error('the database is away'));
  await store.end();
  await stopped;
  assert.deepEqual(store.written, [one, two]);
  assert.equal(store.lost, 0);
});

test('an item that waits for the outcome of a delivery is written again until it is decided, at the latest by a shutdown', async () => {
  const store = new ManualStore(8);
  const [first, second, other] = [open(), open(), open('46101')];
  store.undecided.add(first.id).add(second.id);
  for (const item of [first, second, other]) store.writer.add(item);
  await store.end();
  // Both still count as their account's share of what waits.
  store.writer.add(open());
  const again = await store.end();
  assert.deepEqual(
    again.map(({ id }) => id),
    [first.id, second.id],
  );
  const since = again.map(({ waitsSince }) => waitsSince);
  store.undecided.delete(first.id);
  const third = await store.end();
  assert.deepEqual(
    third.map(({ waitsSince }) => waitsSince),
    since,
  );
  const stopped = store.writer.stop();
  await store.end();
  await stopped;
  assert.deepEqual(
    store.written.map(({ id }) => id),
    [other.id, first.id, second.id],
  );
  assert.equal(store.lost, 1);
});

test('a shutdown that gives up reports how many items were lost, including those of a hanging write', async () => {
  const store = new ManualStore();
  store.writer.add(open());
  await waitFor('the first write', () => store.concurrent === 1);
  store.writer.add(open());
  store.writer.add(open());
  await store.writer.stop(20);
  assert.equal(store.lost, 3);
  await store.end(new Error('too late'));
  store.writer.add(open());
  assert.equal(store.lost, 4);
});

test('a shutdown goes on while the database takes batches, for twice its timeout', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const store = new ManualStore();
    for (let count = 0; count < 1_500; count += 1) store.writer.add(open());
    const stopped = store.writer.stop(10_000);
    await store.end();
    await endOfTurn();
    mock.timers.tick(9_000);
    await store.end();
    await endOfTurn();
    mock.timers.tick(9_000);
    await endOfTurn();
    assert.equal(store.lost, 0);
    mock.timers.tick(2_000);
    await stopped;
    assert.equal(store.lost, 500);
  } finally {
    mock.timers.reset();
  }
});

test('items being written count towards the limit, and lost items are reported', async () => {
  const store = new ManualStore(10);
  const items = Array.from({ length: 25 }, (_, account) => open(account));
  for (const item of items.slice(0, 8)) store.writer.add(item);
  await waitFor('the first write', () => store.concurrent === 1);
  for (const item of items.slice(8)) store.writer.add(item);
  assert.equal((await store.end()).length, 8);
  const second = await store.end();
  assert.ok(second.length <= 2, `${second.length} waited beside 8 that were being written`);
  await store.writer.stop();
  assert.equal(store.written.length + store.lost, items.length);
});

test('an account whose opens wait for the database loses its own beyond a quarter, never those of others', async () => {
  const store = new ManualStore(8);
  const first = [open(), open()];
  const other = open('46101');
  for (const item of [...first, open(), open(), other, open()]) store.writer.add(item);
  assert.deepEqual(await store.end(), [...first, other]);
  await endOfTurn();
  const later = open();
  store.writer.add(later);
  await store.end();
  await store.writer.stop();
  assert.deepEqual(store.written, [...first, other, later]);
  assert.equal(store.lost, 3);
});
