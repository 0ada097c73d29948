import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import fc from 'fast-check';
import { FairBytes } from '../../src/foundation/fair-bytes.ts';

const limits = { total: 100, perGroup: 60 };

/** Waits until everything that can start has started. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface Holding {
  readonly name: string;
  readonly group: string;
  readonly size: number;
  readonly release: () => void;
}

/** Takes bytes and keeps a record of who holds how many. */
class Takers {
  readonly bytes = new FairBytes(limits);
  readonly held: Holding[] = [];
  readonly waiting = new Set<string>();
  readonly gaveUp: string[] = [];
  #count = 0;

  take(group: string, size: number, timeoutMs?: number): string {
    this.#count += 1;
    const name = `${group}${this.#count}`;
    this.waiting.add(name);
    void this.bytes.acquire(group, size, timeoutMs).then((release) => {
      this.waiting.delete(name);
      if (release === undefined) this.gaveUp.push(name);
      else this.held.push({ name, group, size: Math.min(size, limits.perGroup), release });
    });
    return name;
  }

  /** Releases the nth holding, counting around. */
  release(index: number): void {
    const [gone] = this.held.splice(index % Math.max(1, this.held.length), 1);
    gone?.release();
    gone?.release();
  }

  heldBy(group?: string): number {
    return this.held
      .filter((one) => group === undefined || one.group === group)
      .reduce((sum, { size }) => sum + size, 0);
  }

  get names(): string[] {
    return this.held.map(({ name }) => name);
  }
}

test('a group gets at most its share, and another one the rest', async () => {
  const takers = new Takers();
  takers.take('a', 60);
  takers.take('a', 1);
  takers.take('b', 40);
  await settle();
  assert.deepEqual(takers.names, ['a1', 'b3']);
  takers.release(0);
  await settle();
  assert.deepEqual(takers.names, ['b3', 'a2']);
});

test('small requests don’t overtake a large one that waits for the total', async () => {
  const takers = new Takers();
  takers.take('a', 50);
  takers.take('b', 50);
  takers.take('c', 60);
  takers.take('d', 10);
  await settle();
  takers.release(0);
  await settle();
  assert.deepEqual(takers.names, ['b2'], '50 are free, and d leaves them to c');
  takers.release(0);
  await settle();
  assert.deepEqual(takers.names, ['c3', 'd4']);
});

test('a waiter that gives up gives nothing away, and the next one starts', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const takers = new Takers();
  takers.take('a', 60);
  takers.take('b', 60, 1_000);
  takers.take('c', 40);
  await settle();
  assert.deepEqual(takers.names, ['a1']);
  t.mock.timers.tick(1_000);
  await settle();
  assert.deepEqual(takers.gaveUp, ['b2']);
  assert.deepEqual(takers.names, ['a1', 'c3']);
  assert.equal(takers.bytes.held, 100);
});

test('two groups that always want more hold the same over time', async () => {
  const takers = new Takers();
  for (let count = 0; count < 200; count += 1) takers.take(count < 100 ? 'a' : 'b', 30);
  const turns: Record<string, number> = { a: 0, b: 0 };
  for (let round = 0; round < 100; round += 1) {
    await settle();
    turns[takers.held[0]?.group ?? ''] = (turns[takers.held[0]?.group ?? ''] ?? 0) + 1;
    takers.release(0);
  }
  assert.ok(Math.abs((turns.a ?? 0) - (turns.b ?? 0)) <= 2, JSON.stringify(turns));
});

test('only the group that holds the most holds others up, and only while they wait within their own limit', async () => {
  const takers = new Takers();
  const holdingUp = (): string[] => ['a', 'b', 'c'].filter((one) => takers.bytes.isHoldingUp(one));
  takers.take('a', 60);
  takers.take('b', 30);
  takers.take('a', 30);
  await settle();
  assert.deepEqual(holdingUp(), [], 'a waits for itself');
  takers.take('c', 20);
  assert.deepEqual(holdingUp(), ['a']);
  takers.release(1);
  await settle();
  assert.deepEqual(holdingUp(), []);
});

test('limits are never exceeded, nobody waits while there is room, and everybody has a turn', async () => {
  const step = fc.oneof(
    fc.record({
      group: fc.constantFrom('a', 'b', 'c'),
      size: fc.integer({ min: 1, max: 120 }),
      timeout: fc.option(fc.integer({ min: 1, max: 50 }), { nil: undefined }),
    }),
    fc.record({ release: fc.nat(10) }),
    fc.record({ tick: fc.integer({ min: 1, max: 50 }) }),
  );
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const takers = new Takers();
        const sizes = new Map<string, number>();
        for (const one of steps) {
          if ('group' in one) {
            const name = takers.take(one.group, one.size, one.timeout);
            sizes.set(name, Math.min(one.size, limits.perGroup));
          } else if ('release' in one) takers.release(one.release);
          else mock.timers.tick(one.tick);
          await settle();
          assert.equal(takers.bytes.held, takers.heldBy());
          assert.ok(takers.heldBy() <= limits.total);
          for (const group of 'abc') assert.ok(takers.heldBy(group) <= limits.perGroup);
          const firsts = [...takers.waiting].filter(
            (name, at, all) => all.findIndex((other) => other[0] === name[0]) === at,
          );
          const startable = firsts.filter((name) => {
            const size = sizes.get(name) ?? 0;
            return takers.heldBy(name[0]) + size <= limits.perGroup;
          });
          const blocked = startable.some(
            (name) => takers.heldBy() + (sizes.get(name) ?? 0) > limits.total,
          );
          assert.ok(startable.length === 0 || blocked, `${startable} wait although there is room`);
        }
        while (takers.held.length > 0) {
          takers.release(0);
          await settle();
        }
        assert.equal(takers.waiting.size, 0, 'everybody had a turn');
        assert.equal(takers.bytes.held, 0);
      }),
      { numRuns: 200 },
    );
  } finally {
    mock.timers.reset();
  }
});
