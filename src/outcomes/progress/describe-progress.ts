import { type Static, Type } from 'typebox';
import { Flag, Text, Time } from '../../base/values/common-schemas.ts';
import type { PermanentCause, TemporaryCause } from '../../sending/delivery/reply-rules.ts';
import type { FaultKind } from '../../sending/delivery/transport.ts';
import type { StatusTarget } from '../../sending/submission/status-link.ts';
import type { StoredProgress } from './progress-store.ts';
import {
  type ProgressLanguage,
  type ProgressState,
  progressStates,
  progressText,
} from './progress-texts.ts';

/** What a status link shows. */
export const ProgressSchema = Type.Object(
  {
    state: Type.Enum(progressStates),
    text: Text('A sentence for the person who waits.'),
    provider: Type.Optional(Text('The domain of the To address.')),
    at: Time('Since when.'),
    nextTryAt: Type.Optional(Time('The next attempt.')),
    resendAt: Type.Optional(Time('When to offer to send again, if the request chose a time.')),
    final: Flag('Nothing more is going to happen.'),
  },
  { title: 'Progress' },
);

export type Progress = Static<typeof ProgressSchema>;

/** Where delivered mail is: at the recipient's provider, at a relay on its way there, or in an inbox for tests. */
export type DeliveredState = Extract<ProgressState, 'delivered' | 'sent' | 'test-inbox'>;

/** What a delivery means with the settings of the service. */
export function deliveredState(settings: {
  readonly delivery: 'inbox' | 'relay' | 'direct';
  readonly deliveryRedirect: string | undefined;
}): DeliveredState {
  if (settings.delivery === 'inbox' || settings.deliveryRedirect !== undefined) return 'test-inbox';
  return settings.delivery === 'direct' ? 'delivered' : 'sent';
}

/** By the cause of a deferral. What is ours to mend is no news for the recipient. */
const deferredStates: Readonly<Record<TemporaryCause | FaultKind, ProgressState>> = {
  greylist: 'greylisted',
  throttled: 'provider-busy',
  'mailbox-busy': 'provider-busy',
  'receiver-busy': 'provider-busy',
  'mailbox-full': 'mailbox-full',
  'receiver-fault': 'unreachable',
  dns: 'unreachable',
  name: 'unreachable',
  connection: 'unreachable',
  tls: 'unreachable',
  timeout: 'unreachable',
  closed: 'unreachable',
  protocol: 'delayed',
  reputation: 'delayed',
  authentication: 'delayed',
  other: 'delayed',
  'our-credentials': 'waiting',
  source: 'waiting',
  database: 'waiting',
};

const bouncedStates: Readonly<Record<PermanentCause, ProgressState>> = {
  'no-mailbox': 'no-mailbox',
  'no-domain': 'no-domain',
  'mailbox-disabled': 'mailbox-disabled',
  'mailbox-full': 'mailbox-full',
  filtered: 'blocked',
  policy: 'blocked',
  authentication: 'blocked',
  reputation: 'blocked',
  content: 'blocked',
  size: 'rejected',
  sender: 'rejected',
  relaying: 'rejected',
  loop: 'rejected',
  unsupported: 'rejected',
  other: 'rejected',
};

/** What only the recipient's own provider can cause; a relay has its own reasons to refuse mail for now. */
const ofProvider: ReadonlySet<ProgressState> = new Set(['provider-busy', 'unreachable', 'delayed']);

interface Situation {
  readonly state: ProgressState;
  readonly isFinal: boolean;
}

/**
 * The progress of a message for the person in front of the page.
 * @param stored undefined: there is no such message
 * @returns undefined if there is nothing to show. Private links always show something: whatever keeps a message from arriving, a
 * suppression included, reads as one that waits
 */
export function describeProgress(
  target: StatusTarget,
  stored: StoredProgress | undefined,
  delivered: DeliveredState,
  language: ProgressLanguage,
): Progress | undefined {
  const isKnown = !target.isPrivate || stored?.kind === 'delivered';
  if (stored === undefined && isKnown) return undefined;
  const { state, isFinal } =
    stored === undefined || !isKnown ? waiting : situationOf(stored, delivered);
  const { domain, at, dueAt } = (isKnown && stored) || nothingKnown;
  const { acceptedAt, resendAfterSeconds } = target;
  const isTried = state === 'scheduled' || (stored?.kind === 'deferred' && !isFinal);
  return {
    state,
    text: progressText(state, language, domain ?? undefined),
    ...(domain !== null && { provider: domain }),
    at: (at ?? acceptedAt).toISOString(),
    ...(isTried && dueAt !== null && { nextTryAt: dueAt.toISOString() }),
    ...(resendAfterSeconds > 0 && {
      resendAt: new Date(acceptedAt.getTime() + resendAfterSeconds * 1_000).toISOString(),
    }),
    final: isFinal,
  };
}

const nothingKnown = { domain: null, at: null, dueAt: null } as const;
const waiting: Situation = { state: 'waiting', isFinal: false };

function situationOf(stored: StoredProgress, delivered: DeliveredState): Situation {
  const { kind, cause } = stored;
  if (stored.leased && stored.pending) return { state: 'sending', isFinal: false };
  if (kind === 'uncertain') return { state: 'uncertain', isFinal: !stored.pending };
  if (stored.pending && kind !== 'failed')
    return { state: pendingState(stored, delivered === 'sent'), isFinal: false };
  if (kind === null) return waiting;
  if (kind === 'delivered') return { state: delivered, isFinal: true };
  if (kind !== 'bounced') return { state: 'not-sent', isFinal: true };
  return { state: bouncedStates[cause as PermanentCause] ?? 'rejected', isFinal: true };
}

function pendingState(
  { held, scheduled, kind, cause }: StoredProgress,
  byRelay: boolean,
): ProgressState {
  if (held) return 'paused';
  if (scheduled) return 'scheduled';
  if (kind !== 'deferred') return 'waiting';
  const state = deferredStates[cause as TemporaryCause | FaultKind] ?? 'delayed';
  return byRelay && ofProvider.has(state) ? 'waiting' : state;
}
