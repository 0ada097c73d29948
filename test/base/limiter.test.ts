import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import fc from 'fast-check';
import {
  type Evictable,
  type Holding,
  Limiter,
  type Policy,
} from '../../src/base/fairness/limiter.ts';
import { policies } from '../../src/base/fairness/policies.ts';
import { networksOf } from '../../src/base/network/ip-address.ts';
import { Busy } from '../../src/base/values/errors.ts';

const base = { what: 'changes', retryAfter: 7 } as const;
const queue = { callers: 6, perSharer: 3, ms: 3_000 } as const;
const strict: Policy = { ...base, total: 2, share: 1, reserve: 1, wait: queue };

/** Waits until everything that can start has started. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** What was acquired, in order. */
class Callers {
  readonly started: string[] = [];
  readonly refused: string[] = [];
  readonly #holdings = new Map<string, Holding>();
  readonly #limiter: Limiter;

  constructor(limiter: Limiter) {
    this.#limiter = limiter;
  }

  take(name: string, sharer: string | readonly string[], options = {}): void {
    this.#limiter.acquire(sharer, options).then(
      (holding) => {
        this.started.push(name);
        this.#holdings.set(name, holding);
      },
      (error: unknown) => {
        assert.ok(error instanceof Busy);
        this.refused.push(name);
      },
    );
  }

  async release(name: string): Promise<void> {
    this.#holdings.get(name)?.release();
    await settle();
  }
}

test('a sharer at its share takes turns with others, and leaves the reserve', async () => {
  const callers = new Callers(new Limiter(strict));
  for (const name of ['b1', 'b2', 'b3', 'a1', 'a2', 'c1']) callers.take(name, name.slice(0, 1));
  await settle();
  assert.deepEqual(callers.started, ['b1', 'a1'], 'b2 waits although c is not ahead of it');
  await callers.release('b1');
  assert.deepEqual(callers.started.slice(2), ['b2']);
  await callers.release('b2');
  assert.deepEqual(callers.started.slice(3), ['c1'], 'b has just had its turn');
  await callers.release('a1');
  await callers.release('c1');
  assert.deepEqual(callers.started.toSorted(), ['a1', 'a2', 'b1', 'b2', 'b3', 'c1']);
});

test('a lone sharer gets everything but the reserve, until others wait for their share', async () => {
  const limiter = new Limiter({ ...strict, total: 10, share: 3, reserve: 2 });
  const callers = new Callers(limiter);
  for (let at = 1; at <= 10; at += 1) callers.take(`a${at}`, 'a');
  await settle();
  assert.equal(callers.started.length, 8);
  for (const name of ['b1', 'b2', 'b3']) callers.take(name, 'b');
  await settle();
  assert.deepEqual(callers.started.slice(8), ['b1', 'b2'], 'the reserve');
  await callers.release('a1');
  assert.deepEqual(callers.started.slice(10), ['b3'], 'b was below its share');
  await callers.release('a2');
  assert.equal(callers.started.length, 11, 'a would leave no reserve');
});

test('a full queue refuses the newest caller of whoever waits most', async () => {
  const callers = new Callers(new Limiter({ ...strict, total: 1, reserve: 0 }));
  for (const name of ['b0', 'b1', 'b2', 'b3', 'b4']) callers.take(name, 'b');
  await settle();
  assert.deepEqual(callers.refused, ['b4'], 'one sharer has a limit of its own');
  for (const name of ['c1', 'd1', 'e1', 'f1']) callers.take(name, name.slice(0, 1));
  await settle();
  assert.deepEqual(callers.refused, ['b4', 'b3']);
  callers.take('g1', 'g');
  await settle();
  assert.deepEqual(callers.refused, ['b4', 'b3', 'b2']);
  callers.take('h1', 'h');
  await settle();
  assert.deepEqual(callers.refused.slice(3), ['h1'], 'nobody waits more than this one would');
});

test('callers that go first are neither refused nor delayed by the others', async () => {
  const callers = new Callers(new Limiter({ ...strict, total: 1, reserve: 0 }));
  for (const name of 'abcdefgh') callers.take(name, name);
  callers.take('client', 'client', { first: true });
  await settle();
  assert.deepEqual(callers.refused, ['h', 'g']);
  await callers.release('a');
  assert.deepEqual(callers.started, ['a', 'client']);
});

test('ASVS 4.0.3 11.1.4: a flood of callers that go first keeps the others neither from the queue nor from their turn', async () => {
  for (const flood of ['one sharer', 'many sharers']) {
    const callers = new Callers(new Limiter({ ...strict, total: 1, reserve: 0 }));
    let count = 0;
    const callFirst = (): void => {
      count += 1;
      callers.take(`first ${count}`, flood === 'one sharer' ? flood : `${count}`, { first: true });
    };
    for (let at = 0; at < 7; at += 1) callFirst();
    for (const name of 'abc') callers.take(name, name);
    for (let turn = 0; turn < 16; turn += 1) {
      callFirst();
      await settle();
      await callers.release(callers.started.at(-1) ?? '');
    }
    const others = callers.started.slice(0, 16).filter((name) => !name.startsWith('first'));
    assert.deepEqual(others, ['a', 'b', 'c'], flood);
  }
});

test('callers that wait without a limit refuse nobody else', async () => {
  const callers = new Callers(new Limiter(strict));
  for (let at = 0; at < 10; at += 1) callers.take(`own ${at}`, `own ${at % 2}`, { patient: true });
  for (const name of ['a1', 'a2', 'b1']) callers.take(name, name.slice(0, 1));
  await settle();
  assert.deepEqual(callers.refused, []);
});

test('callers that wait too long are refused, and patient ones never', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const callers = new Callers(new Limiter(strict));
    for (const name of ['b1', 'b2']) callers.take(name, 'b');
    callers.take('b3', 'b', { patient: true });
    mock.timers.tick(3_000);
    await settle();
    assert.deepEqual(callers.refused, ['b2']);
    await callers.release('b1');
    assert.deepEqual(callers.started, ['b1', 'b3']);
  } finally {
    mock.timers.reset();
  }
});

test('Busy names what is full and when to retry; work that throws gives its slot back', async () => {
  const limiter = new Limiter({ ...base, total: 1, share: 1, reserve: 0 });
  const holding = limiter.tryAcquire('a');
  assert.ok(limiter.tryAcquire('b') === undefined);
  await assert.rejects(limiter.acquire('b'), {
    message: 'Too many changes in progress. Retry in 7 s',
    retryAfter: 7,
  });
  holding?.release();
  holding?.release();
  const fault = new Error('fault');
  await assert.rejects(
    limiter.run('b', () => Promise.reject(fault)),
    fault,
  );
  assert.equal(limiter.held, 0);
});

test('a small request does not overtake a large one that waits for the total', async () => {
  const callers = new Callers(new Limiter({ ...strict, total: 100, share: 60, reserve: 40 }));
  callers.take('a1', 'a', { amount: 60 });
  callers.take('b1', 'b', { amount: 60 });
  callers.take('c1', 'c', { amount: 30 });
  callers.take('d0', 'd', { amount: 0 });
  await settle();
  assert.deepEqual(callers.started, ['a1', 'd0']);
  await callers.release('a1');
  assert.deepEqual(callers.started, ['a1', 'd0', 'b1', 'c1']);
});

test('the networks of an address are counted together: a /48 has no 65,536 shares', () => {
  assert.deepEqual(networksOf('192.0.2.7'), ['192.0.2.7', '192.0.2.0/24']);
  assert.deepEqual(networksOf('::ffff:192.0.2.7'), networksOf('192.0.2.7'));
  assert.deepEqual(networksOf('2001:db8:1:203::4'), [
    '2001:db8:1:203::/64',
    '2001:db8:1:200::/56',
    '2001:db8:1::/48',
  ]);
  const limiter = new Limiter({ ...base, total: 100, share: 10, reserve: 90 });
  const fill = (addressOf: (at: number) => string): number => {
    let count = 0;
    for (let at = 0; at < 200; at += 1)
      if (limiter.tryAcquire(networksOf(addressOf(at))) !== undefined) count += 1;
    return count;
  };
  assert.equal(
    fill(() => '2001:db8:1:1::1'),
    10,
  );
  assert.equal(
    fill((at) => `2001:db8:1:${(at % 256).toString(16)}::1`),
    10,
    'the rest of the /56',
  );
  assert.equal(
    fill((at) => `2001:db8:1:${(at * 256).toString(16)}::1`),
    20,
    'the rest of the /48',
  );
  assert.equal(
    fill((at) => `192.0.2.${at}`),
    40,
  );
  assert.equal(limiter.held, 80);
});

/** A clock, and what was evicted. */
function evicting(policy: Partial<Policy>) {
  let now = 0;
  const evicted: string[] = [];
  const clock = (): number => now;
  const limiter = new Limiter(
    { ...base, total: 4, share: 4, reserve: 0, evict: { afterMs: 5_000 }, ...policy },
    1,
    clock,
  );
  const evictable = (name: string, progress = 0): Evictable => ({
    progress: () => progress,
    evict: () => evicted.push(name),
  });
  /** In seconds, because a longer step counts as a stall. */
  const pass = (seconds: number): void => {
    for (let at = 0; at < seconds; at += 1) {
      now += 1_000;
      limiter.tryAcquire('clock', { amount: 0 })?.release();
    }
  };
  const take = (name: string, sharer: string | readonly string[], progress?: number) =>
    limiter.tryAcquire(sharer, { evictable: evictable(name, progress) });
  return { limiter, evicted, take, pass };
}

test('when full, what made least progress goes, of the sharer with most', () => {
  const { evicted, take } = evicting({});
  take('a1', 'a', 3);
  take('a2', 'a', 1);
  take('a3', 'a', 2);
  take('b1', 'b', 0);
  assert.ok(take('c1', 'c'));
  assert.ok(take('d1', 'd'));
  assert.deepEqual(evicted, ['a2', 'a3']);
  assert.ok(take('e1', 'e') === undefined, 'nobody has more than e would have');
});

test('among equals, and within one sharer, only what is old goes', () => {
  const { evicted, take, pass } = evicting({});
  for (const name of ['a', 'b', 'c', 'd']) take(name, name);
  assert.ok(take('e', 'e') === undefined);
  pass(5);
  assert.ok(take('e', 'e'));
  assert.deepEqual(evicted, ['a']);
  const own = evicting({ total: 10, share: 2, reserve: 8 });
  own.take('a1', 'a', 1);
  own.take('a2', 'a', 0);
  assert.ok(own.take('a3', 'a') === undefined);
  own.pass(5);
  assert.ok(own.take('a3', 'a'));
  assert.deepEqual(own.evicted, ['a2']);
});

test('networks that hold most make room together, however many parts they have', () => {
  const { evicted, take } = evicting({ share: 1 });
  for (const part of [1, 2, 3]) take(`wide ${part}`, networksOf(`2001:db8:1:${part}::1`));
  take('alone', networksOf('192.0.2.1'));
  assert.ok(take('new', networksOf('198.51.100.1')));
  assert.deepEqual(evicted, ['wide 1']);
});

test('what grows takes room from others, and may have to make it', () => {
  const { limiter, evicted, take, pass } = evicting({});
  take('a1', 'a');
  const first = take('b1', 'b', 5);
  assert.equal(first?.grow(2), true);
  pass(5);
  assert.equal(take('c1', 'c', 1)?.grow(1), true);
  assert.deepEqual(evicted, ['b1']);
  assert.equal(first?.grow(1), false, 'it was evicted');
  first?.release();
  assert.equal(limiter.held, 3);
});

test('while others wait, what arrives too slowly goes, and what is settled stays', async () => {
  mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  try {
    const evict = { afterMs: 5_000, slowerThan: 100 };
    const wait = { ...queue, ms: 60_000 };
    const { limiter, evicted, take, pass } = evicting({ total: 3, share: 2, evict, wait });
    take('fast', 'a', 1_000_000);
    const slow = take('slow', 'a', 10);
    take('b1', 'b', 10);
    const callers = new Callers(limiter);
    callers.take('c1', 'c');
    const look = (seconds: number): void => {
      for (let at = 0; at < seconds; at += 1) {
        pass(1);
        mock.timers.tick(1_000);
      }
    };
    look(4);
    assert.deepEqual(evicted, []);
    slow?.settle();
    look(10);
    assert.deepEqual(evicted, [], 'the sharer with most has nothing slow');
    slow?.release();
    await settle();
    assert.deepEqual(callers.started, ['c1']);
  } finally {
    mock.timers.reset();
  }
});

test('a pace is due only after a while, and a stall of the process makes nothing late', async () => {
  mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  try {
    const evict = { afterMs: 5_000, slowerThan: 100 };
    const policy = {
      ...base,
      total: 2,
      share: 2,
      reserve: 0,
      wait: { ...queue, ms: 90_000 },
      evict,
    };
    let now = 0;
    let arrived = 0;
    let isEvicted = false;
    const limiter = new Limiter(policy, 1, () => now);
    const evictable = { progress: () => arrived, evict: () => (isEvicted = true) };
    limiter.tryAcquire('a', { amount: 2, evictable });
    const waiting = limiter.acquire('b');
    const look = (ms: number): void => {
      now += ms;
      mock.timers.tick(500);
    };
    look(60_000);
    for (let at = 0; at < 7; at += 1) look(500);
    assert.equal(isEvicted, false, 'five seconds of its own');
    arrived = 100;
    look(500);
    look(500);
    assert.equal(isEvicted, false, 'fast enough');
    look(500);
    look(500);
    assert.equal(isEvicted, true);
    (await waiting).release();
  } finally {
    mock.timers.reset();
  }
});

test('no limit is ever exceeded, and nothing is lost', async () => {
  const step = fc.oneof(
    fc.record({
      take: fc.constantFrom('a', 'b', 'c', 'x/1', 'x/2'),
      amount: fc.integer({ min: 1, max: 4 }),
    }),
    fc.record({ release: fc.nat(10) }),
  );
  const policy = { ...base, total: 8, share: 3, reserve: 2, wait: { ...queue, callers: 8 } };
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const limiter = new Limiter(policy);
      const held: Holding[] = [];
      let waiting = 0;
      const check = (): void => {
        assert.ok(limiter.held <= policy.total);
        assert.equal(
          limiter.held,
          held.reduce((sum, { amount }) => sum + amount, 0),
        );
        assert.equal(limiter.waiting, waiting);
        assert.ok(waiting <= policy.wait.callers);
      };
      for (const one of steps) {
        if ('take' in one) {
          const [name = '', part] = one.take.split('/');
          waiting += 1;
          limiter.acquire(part === undefined ? name : [part, name], { amount: one.amount }).then(
            (holding) => {
              waiting -= 1;
              held.push(holding);
            },
            () => {
              waiting -= 1;
            },
          );
        } else held.splice(one.release % Math.max(1, held.length), 1)[0]?.release();
        await settle();
        check();
      }
      while (held.length > 0) {
        held.shift()?.release();
        await settle();
      }
      check();
      assert.equal(waiting, 0, 'everybody had a turn');
      assert.equal(limiter.held, 0);
    }),
  );
});

test('every policy can serve a newcomer while another sharer has all it can get', () => {
  for (const [name, policy] of Object.entries(policies)) {
    const limiter = new Limiter(policy);
    const amount = policy.unit === 'bytes' ? 64 * 1_024 : 1;
    while (limiter.tryAcquire('greedy', { amount }) !== undefined);
    const isServed = limiter.tryAcquire('newcomer', { amount }) !== undefined;
    // Passwords take milliseconds, so that a newcomer waits for the next one.
    assert.ok(isServed || name === 'passwords', name);
  }
});
