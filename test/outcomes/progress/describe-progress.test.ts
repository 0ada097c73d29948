import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AccountId, MessageId } from '../../../src/base/values/ids.ts';
import {
  pickReaderLanguage,
  type ReaderLanguage,
} from '../../../src/base/values/reader-language.ts';
import {
  type DeliveredState,
  deliveredState,
  describeProgress,
} from '../../../src/outcomes/progress/describe-progress.ts';
import type { StoredProgress } from '../../../src/outcomes/progress/progress-store.ts';
import { progressStates, progressText } from '../../../src/outcomes/progress/progress-texts.ts';
import type { StatusTarget } from '../../../src/sending/submission/status-link.ts';

const acceptedAt = new Date('2026-11-30T12:00:00Z');
const nextTryAt = new Date('2026-11-30T12:05:00Z');
const at = new Date('2026-11-30T12:00:02Z');

const target: StatusTarget = {
  accountId: '46100' as AccountId,
  messageId: '' as MessageId,
  isPrivate: false,
  resendAfterSeconds: 0,
  acceptedAt,
  expiresAt: new Date('2026-11-30T12:15:00Z'),
};

const queued: StoredProgress = {
  domain: 'people.test',
  nextTryAt: null,
  held: false,
  scheduled: false,
  kind: null,
  at: null,
  cause: null,
};

const deferred = { kind: 'deferred', at, nextTryAt } as const;
const final = { at } as const;

function describe(
  stored: Partial<StoredProgress>,
  options: Partial<StatusTarget> = {},
  delivered: DeliveredState = 'delivered',
) {
  return describeProgress({ ...target, ...options }, { ...queued, ...stored }, delivered, 'en');
}

function stateOf(...options: Parameters<typeof describe>): string {
  const { state, final: isFinal } = describe(...options) ?? {};
  return `${state}${isFinal ? ', final' : ''}`;
}

test('each situation has its state', () => {
  const cases: readonly (readonly [Partial<StoredProgress>, string])[] = [
    [{}, 'waiting'],
    [{ nextTryAt }, 'waiting'],
    [{ scheduled: true }, 'scheduled'],
    [{ held: true }, 'paused'],
    [{ held: true, scheduled: true }, 'paused'],
    [{ held: true, ...deferred, cause: 'greylist' }, 'paused'],
    [{ ...deferred, cause: 'greylist' }, 'greylisted'],
    [{ ...deferred, cause: 'throttled' }, 'delayed'],
    [{ ...deferred, cause: 'mailbox-full' }, 'mailbox-full'],
    [{ ...deferred, cause: 'timeout' }, 'delayed'],
    [{ ...deferred, cause: 'reputation' }, 'delayed'],
    [{ ...deferred, cause: 'of a later release' }, 'delayed'],
    [{ ...deferred, cause: 'our-credentials' }, 'waiting'],
    [{ kind: 'uncertain', at }, 'uncertain'],
    [{ kind: 'uncertain', at, held: true }, 'uncertain'],
    [{ kind: 'failed', at, held: true }, 'not-sent, final'],
    [{ ...final, kind: 'delivered' }, 'delivered, final'],
    [{ ...final, kind: 'bounced', cause: 'no-mailbox' }, 'no-mailbox, final'],
    [{ ...final, kind: 'bounced', cause: 'no-domain' }, 'no-domain, final'],
    [{ ...final, kind: 'bounced', cause: 'mailbox-disabled' }, 'no-mailbox, final'],
    [{ ...final, kind: 'bounced', cause: 'mailbox-full' }, 'mailbox-full, final'],
    [{ ...final, kind: 'bounced', cause: 'content' }, 'rejected, final'],
    [{ ...final, kind: 'bounced', cause: 'size' }, 'rejected, final'],
    [{ ...final, kind: 'bounced', cause: null }, 'rejected, final'],
    [{ ...final, kind: 'bounced', cause: 'greylist' }, 'rejected, final'],
    [{ ...final, kind: 'expired' }, 'not-sent, final'],
    [{ ...final, kind: 'canceled' }, 'not-sent, final'],
    [{ ...final, kind: 'suppressed' }, 'not-sent, final'],
  ];
  for (const [stored, expected] of cases)
    assert.equal(stateOf(stored), expected, JSON.stringify(stored));
});

test('a relay’s own reasons are not those of the recipient’s provider', () => {
  for (const cause of ['timeout', 'throttled', 'reputation'])
    assert.equal(stateOf({ ...deferred, cause }, {}, 'sent'), 'waiting', cause);
  assert.equal(stateOf({ ...deferred, cause: 'greylist' }, {}, 'sent'), 'greylisted');
  assert.equal(stateOf({ ...final, kind: 'delivered' }, {}, 'sent'), 'sent, final');
});

test('mail that stays in the service or goes to another address is in the test inbox', () => {
  const cases = [
    ['inbox', undefined, 'test-inbox'],
    ['relay', undefined, 'sent'],
    ['direct', undefined, 'delivered'],
    ['direct', 'me@shop.test', 'test-inbox'],
  ] as const;
  for (const [delivery, deliveryRedirect, expected] of cases)
    assert.equal(deliveredState(delivery, deliveryRedirect), expected);
});

test('the members tell where, since when, and what comes next', () => {
  assert.deepEqual(describe({ ...deferred, cause: 'greylist' }, { resendAfterSeconds: 60 }), {
    state: 'greylisted',
    text: 'Your provider delays new senders, usually by a few minutes.',
    provider: 'people.test',
    at: '2026-11-30T12:00:02.000Z',
    nextTryAt: '2026-11-30T12:05:00.000Z',
    resendAt: '2026-11-30T12:01:00.000Z',
    final: false,
  });
  assert.deepEqual(describe({}), {
    state: 'waiting',
    text: 'Your email is on its way.',
    provider: 'people.test',
    at: '2026-11-30T12:00:00.000Z',
    final: false,
  });
});

test('a private link shows a delivery, and everything else as a message that waits', () => {
  const secret = { isPrivate: true, resendAfterSeconds: 60 };
  const missing = describeProgress({ ...target, ...secret }, undefined, 'delivered', 'en');
  assert.deepEqual(missing, {
    state: 'waiting',
    text: 'Your email is on its way.',
    at: '2026-11-30T12:00:00.000Z',
    resendAt: '2026-11-30T12:01:00.000Z',
    final: false,
  });
  const hidden: readonly Partial<StoredProgress>[] = [
    {},
    { nextTryAt },
    { held: true },
    { scheduled: true },
    { ...deferred, cause: 'greylist' },
    { ...final, kind: 'bounced', cause: 'no-mailbox' },
    { ...final, kind: 'suppressed' },
    { ...final, kind: 'canceled' },
    { ...final, kind: 'failed' },
  ];
  for (const stored of hidden)
    assert.deepEqual(describe(stored, secret), missing, JSON.stringify(stored));
  assert.equal(
    describe({ ...final, kind: 'delivered' }, secret)?.text.split('.')[0],
    'Your email was sent',
  );
});

test('a message that is gone has no progress', () => {
  assert.equal(describeProgress(target, undefined, 'delivered', 'en'), undefined);
});

test('every state has its own sentence in each language, which says nothing about accounts', () => {
  const account = /account|registered|konto|registriert|compte|inscrit|cuenta|registrad/i;
  for (const language of ['en', 'de', 'fr', 'es'] satisfies ReaderLanguage[]) {
    const texts = progressStates.map((state) => progressText(state, language, 'people.test'));
    assert.equal(new Set(texts).size, progressStates.length, language);
    for (const text of texts) {
      assert.doesNotMatch(text, account);
      assert.doesNotMatch(text, /[{}@]/);
    }
  }
  assert.equal(progressText('delivered', 'en', null), progressText('sent', 'en'));
});

test('the first language with texts is chosen', () => {
  assert.equal(pickReaderLanguage('de'), 'de');
  assert.equal(pickReaderLanguage('fr-CA;q=0.8, de'), 'fr');
  assert.equal(pickReaderLanguage(',it, es-MX'), 'es');
  assert.equal(pickReaderLanguage('den,*'), 'en');
  assert.equal(pickReaderLanguage('constructor'), 'en');
  assert.equal(pickReaderLanguage(''), 'en');
});
