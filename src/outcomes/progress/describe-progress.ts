import { type Static, Type } from 'typebox';
import { Flag, OpenObject, Text, Time } from '../../base/values/common-schemas.ts';
import type { ReaderLanguage } from '../../base/values/reader-language.ts';
import type { PermanentCause, TemporaryCause } from '../../sending/delivery/reply-rules.ts';
import type { FaultKind } from '../../sending/delivery/transport.ts';
import type { StatusTarget } from '../../sending/submission/status-link.ts';
import type { StoredProgress } from './progress-store.ts';
import { type ProgressState, progressStates, progressText } from './progress-texts.ts';

/** What a status link shows. */
export const ProgressSchema = OpenObject('Progress', {
  state: Type.Enum(progressStates),
  text: Text('A sentence for the person who waits.'),
  provider: Type.Optional(Text('The domain of the To address.')),
  at: Time('Since when.'),
  nextTryAt: Type.Optional(Time('The next attempt.')),
  resendAt: Type.Optional(Time('When to offer to send again, if the request chose a time.')),
  final: Flag('Nothing more is going to happen.'),
});

export type Progress = Static<typeof ProgressSchema>;

/** Where delivered mail is: at the recipient's provider, at a relay on its way there, or in an inbox for tests. */
export type DeliveredState = Extract<ProgressState, 'delivered' | 'sent' | 'test-inbox'>;

/** What a delivery means with the settings of the service. */
export function deliveredState(delivery: string, redirect: string | undefined): DeliveredState {
  if (delivery === 'inbox' || redirect !== undefined) return 'test-inbox';
  return delivery === 'direct' ? 'delivered' : 'sent';
}

type Cause = PermanentCause | TemporaryCause | FaultKind;

/** Other deferrals are delays, and other bounces rejections. What is ours to mend is no news for the recipient. */
const stateOfCause: Readonly<Partial<Record<Cause, ProgressState>>> = {
  greylist: 'greylisted',
  'mailbox-full': 'mailbox-full',
  'no-mailbox': 'no-mailbox',
  'mailbox-disabled': 'no-mailbox',
  'no-domain': 'no-domain',
  'our-credentials': 'waiting',
  source: 'waiting',
  database: 'waiting',
};

const lasting: readonly ProgressState[] = ['mailbox-full', 'no-mailbox', 'no-domain'];

/**
 * The progress of a message for the person in front of the page.
 * @param stored undefined: there is no such message
 * @returns undefined if there is nothing to show. Private links always show something: whatever keeps a message from arriving, a
 * suppression included, reads as one that waits. They don't name the provider, which strangers may not know
 */
export function describeProgress(
  { isPrivate, acceptedAt, resendAfterSeconds }: StatusTarget,
  stored: StoredProgress | undefined,
  delivered: DeliveredState,
  language: ReaderLanguage,
): Progress | undefined {
  const isHidden = isPrivate && stored?.kind !== 'delivered';
  const shown: Partial<StoredProgress> | undefined = isHidden ? {} : stored;
  if (shown === undefined) return undefined;
  const [state, final] = situationOf(shown, delivered);
  const { at, nextTryAt } = shown;
  const domain = isPrivate ? null : shown.domain;
  const resendAt = new Date(acceptedAt.getTime() + resendAfterSeconds * 1_000);
  return {
    state,
    text: progressText(state, language, domain),
    ...(domain && { provider: domain }),
    at: (at ?? acceptedAt).toISOString(),
    ...(nextTryAt && state !== 'paused' && { nextTryAt: nextTryAt.toISOString() }),
    ...(resendAfterSeconds > 0 && { resendAt: resendAt.toISOString() }),
    final,
  };
}

function situationOf(
  { kind, cause, held, scheduled }: Partial<StoredProgress>,
  delivered: DeliveredState,
): readonly [state: ProgressState, final: boolean] {
  const ofCause = stateOfCause[cause as Cause];
  if (kind === 'delivered') return [delivered, true];
  // Reports of bounces also name temporary causes.
  if (kind === 'bounced') return [lasting.find((one) => one === ofCause) ?? 'rejected', true];
  if (kind === 'uncertain') return ['uncertain', false];
  if (kind && kind !== 'deferred') return ['not-sent', true];
  if (held) return ['paused', false];
  if (scheduled) return ['scheduled', false];
  // A relay has its own reasons to refuse mail for now.
  const isByProvider = kind === 'deferred' && delivered !== 'sent';
  return [ofCause ?? (isByProvider ? 'delayed' : 'waiting'), false];
}
