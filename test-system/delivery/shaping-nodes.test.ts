import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { newId } from '../../src/base/values/ids.ts';
import { createLog } from '../../src/base/values/log.ts';
import type { Destination } from '../../src/sending/delivery/shaping/sending-limiter.ts';
import { Shaper } from '../../src/sending/delivery/shaping/shaper.ts';
import { ShapingStore } from '../../src/sending/delivery/shaping/shaping-store.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';

const { database } = await createTestDatabase();
const seconds = Number(process.env.SHAPING_SECONDS ?? 14);

/**
 * The clock of both nodes and the receiver. A stall of the machine counts as 20 ms; otherwise the delayed messages would
 * arrive all at once and look like a rate limiting error.
 */
let time = Date.now();
let seenAt = performance.now();
function now(): number {
  const at = performance.now();
  time += Math.min(at - seenAt, 20);
  seenAt = at;
  return time;
}
const clockTimer = setInterval(now, 5);
after(() => clearInterval(clockTimer));

function node(): Shaper {
  const store = new ShapingStore(database, newId(), now);
  const shaper = new Shaper(store, createLog('silent'), now);
  shaper.start();
  after(() => shaper.stop());
  return shaper;
}

/** A receiver that accepts a number of messages per second of the clock and counts them. */
class Receiver {
  readonly #limit: number;
  readonly accepted = new Map<number, number>();
  readonly refused = new Map<number, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  take(): boolean {
    const second = Math.floor(now() / 1_000);
    const taken = this.accepted.get(second) ?? 0;
    const counts = taken < this.#limit ? this.accepted : this.refused;
    counts.set(second, (counts.get(second) ?? 0) + 1);
    return taken < this.#limit;
  }
}

/** Keeps a destination's queue full until `end`. */
async function keepBacklog(
  shaper: Shaper,
  destination: Destination,
  receiver: Receiver,
  end: number,
) {
  while (now() < end) {
    const ticket = await shaper.admit(destination, false);
    if (!('release' in ticket)) {
      await delay(Math.min(ticket.delayMs, 1_000, Math.max(0, end - now())));
      continue;
    }
    await delay(20);
    const slowed = {
      kind: 'slowed',
      what: 'messages',
      text: '421 4.7.0 slow down',
      after: undefined,
    } as const;
    ticket.release(receiver.take() ? { kind: 'accepted' } : slowed);
  }
}

test('two nodes share a rate limit and settle below the receiver’s limit', async (t) => {
  const destination: Destination = {
    name: 'slow.test',
    label: 'slow.test',
    profile: { connections: 20, messagesPerConnection: 100, startRate: 30, maxRate: 1_000 },
  };
  const receiver = new Receiver(50);
  const first = node();
  const second = node();
  const start = Math.ceil(now() / 1_000);
  const end = (start + seconds) * 1_000;
  await Promise.all(
    [first, second].flatMap((shaper) =>
      Array.from({ length: 100 }, () => keepBacklog(shaper, destination, receiver, end)),
    ),
  );
  const count = (from: number, of: Map<number, number>): number => {
    let total = 0;
    for (let at = start + from; at < start + seconds - 1; at += 1) total += of.get(at) ?? 0;
    return total;
  };
  const table = Array.from(
    { length: seconds },
    (_, at) => `${receiver.accepted.get(start + at) ?? 0}+${receiver.refused.get(start + at) ?? 0}`,
  );
  t.diagnostic(table.join(' '));
  const settled = Math.floor(seconds * 0.6);
  const rate = count(settled, receiver.accepted) / (seconds - 1 - settled);
  const refused =
    count(settled, receiver.refused) /
    (count(settled, receiver.refused) + count(settled, receiver.accepted));
  t.diagnostic(`${rate.toFixed(1)}/s, ${(refused * 100).toFixed(2)}% refused`);
  assert.ok(rate > 40 && rate <= 50, `${rate}`);
  assert.ok(refused < 0.05, `${refused}`);
});
