import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { AccountId, MessageId, TemplateId } from '../../../src/base/values/ids.ts';
import { isFinalState } from '../../../src/content/message/message-state.ts';
import type { ClaimedMessage, RecipientResult } from '../../../src/sending/queue/attempt.ts';
import {
  jitter,
  type RetryKind,
  retryDelay,
  retrySchedules,
} from '../../../src/sending/queue/retry-schedule.ts';
import { settleAttempt } from '../../../src/sending/queue/settle-attempt.ts';

const kinds = Object.keys(retrySchedules) as RetryKind[];

function claimed(changes: Partial<ClaimedMessage> = {}): ClaimedMessage {
  return {
    accountId: 'a' as AccountId,
    messageId: '0' as MessageId,
    retentionDays: 90,
    owner: '0',
    fence: '1',
    attempt: 1,
    recipient: 0,
    doubtful: false,
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

const anyResult: fc.Arbitrary<RecipientResult> = fc.record({
  outcome: fc.constantFrom(...outcomes),
  reason: fc.string(),
  retry: fc.constantFrom(...kinds),
  retryAfter: fc.nat(1e9),
});

test('a recipient is final, waits for a time, or is held: exactly one of them', () => {
  fc.assert(
    fc.property(
      anyResult,
      fc.constantFrom('resend' as const, 'hold' as const),
      fc.integer({ min: -1e6, max: 2e8 }),
      fc.integer({ min: 1, max: 500 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (result, whenUncertain, remainingMs, attempt, random) => {
        const message = claimed({ whenUncertain, remainingMs, attempt });
        const { done, held, dueIn, reason, state, events } = settleAttempt(
          message,
          { result, notes: [] },
          random,
        );
        assert.equal([done, held, dueIn !== undefined].filter(Boolean).length, 1);
        assert.equal(done, isFinalState(result.outcome));
        assert.equal(reason, done ? null : result.reason);
        if (dueIn !== undefined) assert.ok(dueIn >= 0 && dueIn <= Math.max(0, remainingMs));
        assert.equal(state, result.outcome);
        assert.deepEqual(
          events.map(({ kind, recipient }) => [kind, recipient]),
          [[result.outcome, 0]],
        );
      },
    ),
  );
});

test('the state is that of the To: a cc’s outcome does not change it', () => {
  const result = { outcome: 'bounced' as const, reason: '550' };
  const settled = settleAttempt(claimed({ recipient: 1 }), { result, notes: [] }, 0);
  assert.equal(settled.state, undefined);
  assert.equal(settled.done, true);
  assert.equal(settled.events[0]?.recipient, 1);
});

test('secret fields are erased by an outcome that is final, and by no other', () => {
  const attempt = { notes: [], secretFields: ['Link'] };
  for (const [outcome, erased] of [
    ['deferred', undefined],
    ['failed', undefined],
    ['delivered', ['Link']],
  ] as const)
    assert.deepEqual(
      settleAttempt(claimed(), { ...attempt, result: { outcome, reason: '' } }, 0).erased,
      erased,
    );
});

test('an outcome that is recorded already gets no event, and what was not tried does not count', () => {
  const recorded = { outcome: 'uncertain' as const, reason: '', recorded: true };
  assert.deepEqual(settleAttempt(claimed(), { result: recorded, notes: [] }, 0).events, []);
  const released = settleAttempt(claimed(), { notes: [] }, 0);
  assert.deepEqual([released.released, released.dueIn, released.done], [true, 0, false]);
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
