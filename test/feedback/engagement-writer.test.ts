import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import type { Engagement } from '../../src/feedback/tracking/engagement.ts';
import { EngagementWriter } from '../../src/feedback/tracking/engagement-writer.ts';
import type { AccountId } from '../../src/foundation/ids.ts';
import { newId, newMessageId } from '../../src/foundation/ids.ts';
import { waitFor } from '../support/wait-for.ts';

/** A place that takes opens and clicks when it is told to, as a database that hangs and comes back does. */
class SlowPlace {
  readonly written: Engagement[] = [];
  readonly logged: { level: number; lost?: number; msg: string }[] = [];
  readonly writer: EngagementWriter;
  atOnce = 0;
  mostAtOnce = 0;
  readonly #open: { items: readonly Engagement[]; end: (fault?: Error) => void }[] = [];

  constructor(mostWaiting?: number) {
    this.writer = new EngagementWriter({
      write: (items) => this.#write(items),
      log: pino({ level: 'warn' }, { write: (line) => void this.logged.push(JSON.parse(line)) }),
      holdMs: 1,
      ...(mostWaiting !== undefined && { maxWaiting: mostWaiting }),
    });
  }

  async #write(items: readonly Engagement[]): Promise<ReadonlySet<string>> {
    this.atOnce += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.atOnce);
    await new Promise<void>((resolve, reject) => {
      const end = (fault?: Error): void => (fault === undefined ? resolve() : reject(fault));
      this.#open.push({ items, end });
    }).finally(() => {
      this.atOnce -= 1;
    });
    this.written.push(...items);
    return new Set();
  }

  /** Ends the next write: it is taken, or fails. */
  async end(fault?: Error): Promise<readonly Engagement[]> {
    const next = await waitFor('a write', () => this.#open.shift());
    next.end(fault);
    return next.items;
  }

  get lost(): number {
    return this.logged.reduce((sum, { lost = 0 }) => sum + lost, 0);
  }
}

function open(): Engagement {
  return {
    id: newId(),
    message: { accountId: '46100' as AccountId, messageId: newMessageId(), retentionDays: 30 },
    kind: 'opened',
    at: 0,
    link: undefined,
    hidden: false,
    verdict: { class: 'person', reason: 'no sign of a scanner or prefetch' },
    userAgent: 'x',
    network: '192.0.2.0/24',
  };
}

test('while a write hangs no second one starts, and what came meanwhile follows it', async () => {
  const place = new SlowPlace();
  const [one, two, three] = [open(), open(), open()];
  place.writer.add(one);
  await waitFor('the first write', () => place.atOnce === 1);
  place.writer.add(two);
  // Timers of one length end in their order: when the later writer writes, this one would have.
  const later = new SlowPlace();
  later.writer.add(open());
  await later.end();
  place.writer.add(three);
  assert.deepEqual(await place.end(), [one]);
  assert.deepEqual(await place.end(), [two, three]);
  await place.writer.stop();
  assert.equal(place.mostAtOnce, 1);
  assert.deepEqual(place.written, [one, two, three]);
  assert.equal(place.lost, 0);
});

test('a write that fails while the service stops is tried again before the stop is over', async () => {
  const place = new SlowPlace();
  const [one, two] = [open(), open()];
  place.writer.add(one);
  await waitFor('the first write', () => place.atOnce === 1);
  place.writer.add(two);
  const stopped = place.writer.stop();
  await place.end(new Error('the database is away'));
  await place.end();
  await stopped;
  assert.deepEqual(place.written, [one, two]);
  assert.equal(place.lost, 0);
});

test('a stop that gives up says how many were lost, those of a write that hangs included', async () => {
  const place = new SlowPlace();
  place.writer.add(open());
  await waitFor('the first write', () => place.atOnce === 1);
  place.writer.add(open());
  place.writer.add(open());
  await place.writer.stop(20);
  assert.equal(place.lost, 3);
  await place.end(new Error('too late'));
  place.writer.add(open());
  assert.equal(place.lost, 4);
});

test('what is being written counts among what may wait, and what is lost is told', async () => {
  const place = new SlowPlace(10);
  const items = Array.from({ length: 25 }, open);
  for (const item of items.slice(0, 8)) place.writer.add(item);
  await waitFor('the first write', () => place.atOnce === 1);
  for (const item of items.slice(8)) place.writer.add(item);
  assert.equal((await place.end()).length, 8);
  const second = await place.end();
  assert.ok(second.length <= 2, `${second.length} waited beside 8 that were being written`);
  await place.writer.stop();
  assert.equal(place.written.length + place.lost, items.length);
});
