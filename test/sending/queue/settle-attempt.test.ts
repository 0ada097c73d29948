import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { AccountId, MessageId, TemplateId } from '../../../src/base/values/ids.ts';
import { isFinalState } from '../../../src/content/message/message-state.ts';
import type { ClaimedMessage, RecordableResult } from '../../../src/sending/queue/attempt.ts';
import {
  jitter,
  type RetryKind,
  retryDelay,
  retrySchedules,
} from '../../../src/sending/queue/retry-schedule.ts';
import { advanceAttempt, settleAttempt } from '../../../src/sending/queue/settle-attempt.ts';

const kinds = Object.keys(retrySchedules) as RetryKind[];

function claimed(changes: Partial<ClaimedMessage> = {}): ClaimedMessage {
  return {
    accountId: 'a' as AccountId,
    messageId: '0' as MessageId,
    retentionDays: 90,
    owner: '0',
    fence: '1',
    attempt: 1,
    pending: [0],
    held: [],
    doubtful: [],
    paused: false,
    canceled: false,
    orphaned: 0,
    pausedDestinations: [],
    expired: false,
    remainingMs: 48 * 3_600_000,
    whenUncertain: 'resend',
    acceptedAt: new Date(0),
    deliverWhenDelayed: true,
    transactional: true,
    templateId: 't' as TemplateId,
    templateVersion: 1,
    trackOpens: false,
    trackClicks: false,
    content: {},
    leaseEndsAt: 0,
    ...changes,
  };
}

const outcomes = [
  'delivered',
  'bounced',
  'deferred',
  'uncertain',
  'failed',
  'expired',
  'canceled',
] as const;

const result = (recipient: number): fc.Arbitrary<RecordableResult> =>
  fc.record({
    eventId: fc.uuid(),
    happenedAt: fc.nat(),
    recipient: fc.constant(recipient),
    outcome: fc.constantFrom(...outcomes),
    reason: fc.string(),
    retry: fc.constantFrom(...kinds),
    retryAfter: fc.nat(1e9),
  });

test('every recipient ends up in exactly one of final, pending and held', () => {
  fc.assert(
    fc.property(
      fc.tuple(result(0), result(1), result(2)),
      fc.constantFrom('resend' as const, 'hold' as const),
      fc.integer({ min: -1e6, max: 2e8 }),
      fc.integer({ min: 1, max: 500 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (results, whenUncertain, millisecondsLeft, attempt, random) => {
        const message = claimed({
          pending: [0, 1, 2],
          whenUncertain,
          remainingMs: millisecondsLeft,
          attempt,
        });
        const settled = settleAttempt(message, { results, notes: [] }, random);
        for (const { recipient, outcome } of results) {
          const places = [settled.pending, settled.held].filter((list) => list.includes(recipient));
          assert.equal(places.length, isFinalState(outcome) ? 0 : 1);
        }
        assert.equal(settled.done, settled.pending.length + settled.held.length === 0);
        if (!settled.done) assert.notEqual(settled.reason, null);
        if (settled.pending.length > 0) {
          const { dueIn } = settled;
          assert.ok(dueIn !== undefined && dueIn >= 0);
          assert.ok(dueIn <= Math.max(0, millisecondsLeft));
        } else if (!settled.done) assert.equal(settled.dueIn, undefined);
        assert.equal(settled.state, results[0].outcome);
      },
    ),
  );
});

test('the outcomes of several transactions are recorded once, in any steps: no recipient is lost or settled twice', () => {
  fc.assert(
    fc.property(
      fc.tuple(result(0), result(1), result(2), result(3)),
      fc.constantFrom('resend' as const, 'hold' as const),
      (results, whenUncertain) => {
        const message = claimed({ pending: [0, 1, 2, 3], whenUncertain });
        const events: string[] = [];
        let state: string | undefined;
        let left: readonly RecordableResult[] = [];
        for (const result of results) {
          const advance = advanceAttempt(message, left, [result.recipient]);
          assert.ok(advance.pending.includes(result.recipient));
          for (const doubt of advance.doubtful) assert.ok(advance.pending.includes(doubt));
          message.pending = advance.pending;
          state = advance.state ?? state;
          events.push(...advance.events.map(({ kind, recipient }) => `${recipient} ${kind}`));
          left = [...advance.remaining, result];
        }
        const end = settleAttempt(message, { results: left, notes: [] }, 0);
        events.push(...end.events.map(({ kind, recipient }) => `${recipient} ${kind}`));
        assert.deepEqual(
          events.sort(),
          results.map(({ recipient, outcome }) => `${recipient} ${outcome}`),
        );
        assert.equal(end.state ?? state, results[0].outcome);
        const together = settleAttempt(
          claimed({ pending: [0, 1, 2, 3], whenUncertain }),
          { results, notes: [] },
          0,
        );
        assert.deepEqual([end.pending, end.held], [together.pending, together.held]);
      },
    ),
  );
});

test('the state is that of the To: a cc’s outcome does not change it', () => {
  const bounced = { recipient: 1, outcome: 'bounced' as const, reason: '550' };
  const settled = settleAttempt(claimed({ pending: [1] }), { results: [bounced], notes: [] }, 0);
  assert.equal(settled.state, undefined);
  assert.equal(settled.done, true);
});

test('the content is erased only with the last recipient', () => {
  const deferred = { recipient: 1, outcome: 'deferred' as const, reason: '450' };
  const delivered = { recipient: 0, outcome: 'delivered' as const, reason: '250' };
  const secretFields = ['Link'];
  const message = claimed({ pending: [0, 1] });
  const some = settleAttempt(
    message,
    { results: [delivered, deferred], notes: [], secretFields },
    0,
  );
  assert.equal(some.erased, undefined);
  const all = settleAttempt(claimed(), { results: [delivered], notes: [], secretFields }, 0);
  assert.deepEqual(all.erased, ['Link']);
});

test('a message without remaining recipients ends with its erasures applied', () => {
  const { done, erased } = settleAttempt(
    claimed({ pending: [] }),
    { results: [], notes: [], secretFields: ['Link'] },
    0,
  );
  assert.deepEqual({ done, erased }, { done: true, erased: ['Link'] });
});

test('a retry waits for its schedule plus at most its jitter, or as long as the receiver asked for, up to 6 hours', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...kinds),
      fc.integer({ min: -10, max: 10_000 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.oneof(fc.integer(), fc.constant(0)),
      (kind, attempt, random, askedFor) => {
        const schedule: readonly number[] = retrySchedules[kind];
        const wait = retryDelay(kind, attempt, random, askedFor);
        assert.ok(wait >= Math.min(...schedule));
        const most = Math.max(...schedule, 6 * 3_600) * (1 + jitter);
        assert.ok(wait <= most);
        if (askedFor > 0) assert.ok(wait >= Math.min(askedFor, 6 * 3_600));
      },
    ),
  );
});

test('a greylisted message gets a quick second try, and each schedule only grows', () => {
  assert.ok(retryDelay('greylist', 1, 0) <= 70);
  for (const kind of kinds) {
    const schedule: readonly number[] = retrySchedules[kind];
    assert.deepEqual(
      [...schedule],
      [...schedule].sort((a, b) => a - b),
    );
  }
});
