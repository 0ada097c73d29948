import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { classifyThrottling } from '../../../src/sending/delivery/direct/direct-transport.ts';
import { parseReply } from '../../../src/sending/delivery/reply.ts';
import {
  lengthenSmtpSessions,
  type SmtpSessionLength,
  SmtpSessionTracker,
} from '../../../src/sending/delivery/shaping/smtp-session-length.ts';
import {
  isSmtpSessionLimit,
  type SmtpSessionEnd,
} from '../../../src/sending/delivery/smtp-session-limit.ts';

const profileLimit = 100;

interface Run {
  readonly length: SmtpSessionLength | undefined;
  readonly sent: number;
  readonly refused: number;
}

/**
 * Simulates ten messages a second, over `connections` connections in turn, to a receiver that accepts `limit(message)`
 * messages per connection.
 */
function simulate(
  messages: number,
  limit: (message: number) => number,
  { connections = 4, named = true, known = undefined as SmtpSessionLength | undefined } = {},
): Run {
  const watch = new SmtpSessionTracker();
  const carriedCounts = Array.from({ length: connections }, () => 0);
  let length = known;
  let refused = 0;
  const learn = (end: SmtpSessionEnd, now: number): void => {
    const next = watch.learn([end], true, length, profileLimit, now);
    if (next !== length) watch.restart();
    length = next;
  };
  for (let message = 0; message < messages; message += 1) {
    const now = message * 100;
    const at = message % connections;
    const after = carriedCounts[at] ?? 0;
    if (after >= limit(message)) {
      refused += 1;
      learn({ kind: 'refused', after, text: 'no more', named }, now);
      carriedCounts[at] = 0;
    }
    carriedCounts[at] = (carriedCounts[at] ?? 0) + 1;
    if ((carriedCounts[at] ?? 0) >= (length?.maxMessages ?? profileLimit)) {
      learn({ kind: 'full', after: carriedCounts[at] ?? 0 }, now);
      carriedCounts[at] = 0;
    }
    const longer = lengthenSmtpSessions(length, profileLimit, now, watch.full);
    if (longer !== length) watch.restart();
    length = longer;
  }
  return { length, sent: messages, refused };
}

test('a receiver’s limit of messages per connection is exceeded only by an occasional probe', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 120 }),
      fc.integer({ min: 1, max: 20 }),
      fc.boolean(),
      (limit, connections, named) => {
        const { length, refused } = simulate(4_000, () => limit, { connections, named });
        assert.equal(length?.maxMessages ?? profileLimit, Math.min(limit, profileLimit));
        assert.ok(refused <= connections + 1, `${refused} refused`);
      },
    ),
  );
});

test('sessions grow again if the receiver accepts more, up to the limit of the profile', () => {
  const known = { maxMessages: 5, learnedAt: 0, reason: 'x' };
  const { length, refused } = simulate(120_000, () => Number.POSITIVE_INFINITY, { known });
  assert.equal(length, undefined);
  assert.equal(refused, 0);
});

test('probing for longer sessions causes a rejection for less than 1% of the messages', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 60 }), fc.boolean(), (limit, named) => {
      const { sent, refused } = simulate(60_000, () => limit, { named });
      assert.ok(refused / sent < 0.01, `${refused} of ${sent}`);
    }),
  );
});

test('a connection carries at least one message and at most the profile’s limit, whatever servers do', () => {
  const end: fc.Arbitrary<SmtpSessionEnd> = fc.oneof(
    fc.record({ kind: fc.constant('full' as const), after: fc.nat(200) }),
    fc.record({
      kind: fc.constant('refused' as const),
      after: fc.nat(200),
      text: fc.string(),
      named: fc.boolean(),
    }),
  );
  fc.assert(
    fc.property(
      fc.array(fc.record({ end, trusted: fc.boolean(), wait: fc.nat(2_000_000) })),
      (steps) => {
        const watch = new SmtpSessionTracker();
        let length: SmtpSessionLength | undefined;
        let now = 0;
        for (const { end, trusted, wait } of steps) {
          now += wait;
          length = watch.learn([end], trusted, length, profileLimit, now);
          length = lengthenSmtpSessions(length, profileLimit, now, watch.full);
          assert.ok(
            length === undefined || (length.maxMessages >= 1 && length.maxMessages < profileLimit),
          );
        }
      },
    ),
  );
});

test('nothing is learned from a single silent disconnect, or if the message also fails in another session', () => {
  const watch = new SmtpSessionTracker();
  const end: SmtpSessionEnd = {
    kind: 'refused',
    after: 7,
    text: '421 4.3.2 restart',
    named: false,
  };
  const learn = (one: SmtpSessionEnd, trusted: boolean) =>
    watch.learn([one], trusted, undefined, profileLimit, 0);
  assert.equal(learn(end, true), undefined);
  assert.equal(learn(end, false), undefined);
  assert.equal(learn({ ...end, after: 12 }, true), undefined);
  assert.equal(learn({ kind: 'full', after: 100 }, true), undefined);
  assert.equal(learn({ ...end, after: 12 }, true), undefined);
  assert.equal(learn({ ...end, after: 12 }, true)?.maxMessages, 12);
});

for (const [reply, source] of [
  [
    '421 too many messages in this connection',
    'Exim src/smtp_in.c, smtp_accept_max_per_connection',
  ],
  [
    '421 Max message per connection reached, closing transmission channel',
    'sisimai lib/sisimai/rhost/yahooinc',
  ],
  [
    '452 4.5.3 Service unavailable, batch limit reached',
    'Momentum, SparkPost/developers.sparkpost.com web-ref/responses-by-message',
  ],
  ['451 4.7.1 Too many messages for this session', 'the same in other words'],
  ['550 5.7.0 Maximum number of messages per SMTP session exceeded', 'the same in other words'],
] as const) {
  test(`"${reply}" is about the session (${source}): it throttles nothing`, () => {
    const parsed = parseReply(reply);
    assert.ok(isSmtpSessionLimit(parsed));
    const use = classifyThrottling({
      end: { kind: 'reply', stage: 'final', reply: parsed },
      server: 'mx',
      transcript: [],
      sessionEnds: [{ kind: 'refused', after: 5, text: reply, named: true }],
    });
    assert.deepEqual(use, { kind: 'answered' });
  });
}

for (const reply of [
  '421 4.7.0 Too many concurrent SMTP connections',
  '421 4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred due to unexpected volume',
  '450 4.2.1 The user you are trying to contact is receiving mail at a rate that',
  '452 4.5.3 Too many recipients',
  '421 4.4.2 mx.example.com Error: timeout exceeded',
]) {
  test(`"${reply}" is not about the number of messages per session`, () => {
    assert.ok(!isSmtpSessionLimit(parseReply(reply)));
  });
}
