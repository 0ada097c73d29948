import type { ReportTotalTable } from '../../base/database/tables.generated.ts';
import type { MessageState } from './message-state.ts';

/** Which events of a kind a report column counts. Opens and clicks are split by who caused them. */
export type ReportFilter =
  | 'all'
  | 'hard'
  | 'soft'
  | 'people'
  | 'first of people'
  | 'machines'
  | 'first of machines';

/** Properties of an event kind. */
interface EventKindFacts {
  /** The recipient's state after it; null if it isn't an outcome. */
  readonly state: MessageState | null;
  /** `type` of its webhook; null if it has none. */
  readonly webhook: `message.${string}` | null;
  /** The report columns that count it, with the filter of each. */
  readonly report: Readonly<Record<string, ReportFilter>>;
  /** `suppression.reason` if it can suppress an address; null if it can't. */
  readonly suppresses: 'hard_bounce' | 'complaint' | 'unsubscribe' | null;
  /** True if it comes from a reader's machine. Its detail identifies that machine and is erased with the person. */
  readonly fromReader: boolean;
  readonly meaning: string;
  /** A conclusion that it doesn't support; empty if there is no likely one. */
  readonly doesNotProve: string;
}

/** What holds for a kind that doesn't say otherwise. */
const otherwise = {
  state: null,
  webhook: null,
  report: {},
  suppresses: null,
  fromReader: false,
  doesNotProve: '',
} as const;

/** A kind with what holds for it otherwise. */
function kind<const Facts extends Partial<EventKindFacts> & Pick<EventKindFacts, 'meaning'>>(
  facts: Facts,
): Omit<typeof otherwise, keyof Facts> & Facts {
  return { ...otherwise, ...facts };
}

/**
 * Everything that can happen to a message, in the order of the report columns. A new kind also needs a producer, texts and,
 * for a new state, report column or reader event, a migration. The compiler finds the rest.
 */
export const eventKinds = {
  /** Not stored in `message_event`, because the message row itself is this event. */
  accepted: kind({
    state: 'queued',
    webhook: 'message.accepted',
    report: { accepted: 'all' },
    meaning: 'the message is stored and can’t be lost',
    doesNotProve: 'that any server has seen it',
  }),
  delivered: kind({
    state: 'delivered',
    webhook: 'message.delivered',
    report: { delivered: 'all' },
    meaning: 'the receiving server, or your relay, accepted it',
    doesNotProve: 'that it reached an inbox',
  }),
  bounced: kind({
    state: 'bounced',
    webhook: 'message.bounced',
    report: { bounced_hard: 'hard', bounced_soft: 'soft' },
    suppresses: 'hard_bounce',
    meaning: 'it was rejected permanently; after `delivered`, a bounce message arrived',
    doesNotProve: 'that the address never existed',
  }),
  deferred: kind({
    state: 'deferred',
    webhook: 'message.deferred',
    report: { deferred: 'all' },
    meaning: 'a temporary error; it is retried',
    doesNotProve: 'that anything is wrong with the address',
  }),
  expired: kind({
    state: 'expired',
    webhook: 'message.expired',
    report: { expired: 'all' },
    meaning: 'its retry period, freshness window or deadline ended',
    doesNotProve: 'that no attempt reached anyone',
  }),
  failed: kind({
    state: 'failed',
    webhook: 'message.failed',
    report: { failed: 'all' },
    meaning: 'an internal error; the message is kept so that you can retry it',
  }),
  uncertain: kind({
    state: 'uncertain',
    webhook: 'message.uncertain',
    report: { uncertain: 'all' },
    meaning: 'the final dot may have been sent, but no reply was read',
    doesNotProve: 'that it was or wasn’t delivered',
  }),
  suppressed: kind({
    state: 'suppressed',
    meaning: 'the address is suppressed; nothing was sent to it',
  }),
  canceled: kind({
    state: 'canceled',
    webhook: 'message.canceled',
    report: { canceled: 'all' },
    meaning: 'stopped before it was sent',
  }),
  delayed: kind({
    webhook: 'message.delayed',
    meaning: 'a server that accepted the message reports that it is still trying',
    doesNotProve: 'that it won’t arrive',
  }),
  complained: kind({
    webhook: 'message.complained',
    report: { complained: 'all' },
    suppresses: 'complaint',
    meaning: 'the recipient’s provider reports that it was marked as spam',
    doesNotProve: 'that the recipient did so on purpose',
  }),
  unsubscribed: kind({
    webhook: 'message.unsubscribed',
    report: { unsubscribed: 'all' },
    suppresses: 'unsubscribe',
    meaning: 'the message’s unsubscribe link was used',
    doesNotProve: 'that the recipient wants no transactional mail',
  }),
  replied: kind({
    webhook: 'message.replied',
    meaning: 'a reply arrived at the message’s reply address',
    doesNotProve: 'that its recipient wrote it: look at the results of SPF, DKIM and DMARC',
  }),
  opened: kind({
    webhook: 'message.opened',
    report: {
      opened_people: 'people',
      opened_people_unique: 'first of people',
      opened_machines: 'machines',
      opened_machines_unique: 'first of machines',
    },
    fromReader: true,
    meaning: 'the message’s tracking image was fetched',
    doesNotProve: 'that a person read it; its absence doesn’t prove that nobody did',
  }),
  clicked: kind({
    webhook: 'message.clicked',
    report: {
      clicked_people: 'people',
      clicked_people_unique: 'first of people',
      clicked_machines: 'machines',
      clicked_machines_unique: 'first of machines',
    },
    fromReader: true,
    meaning: 'a link in the message was followed',
    doesNotProve: 'that a person followed it',
  }),
  'link-scanned': kind({
    webhook: 'message.link-scanned',
    meaning: 'the page of a guarded link was requested, by a mail scanner or a person',
    doesNotProve: 'that anyone used the link: only `link-confirmed` does',
  }),
  'link-confirmed': kind({
    webhook: 'message.link-confirmed',
    meaning: 'the button on the page of a guarded link was pressed',
    doesNotProve: 'that the page it leads to accepted the link',
  }),
  redirected: kind({
    meaning: 'it was sent to the address of `DELIVERY_REDIRECT` instead of its recipients',
    doesNotProve: 'that a recipient received it',
  }),
  warning: kind({ meaning: 'rendering changed something in it, such as emptying a link' }),
  'pause-asked': kind({
    meaning: 'a user paused it',
    doesNotProve: 'that an attempt in progress stopped',
  }),
  'resume-asked': kind({ meaning: 'a user resumed it' }),
  'cancel-asked': kind({
    meaning: 'a user canceled it',
    doesNotProve:
      'that it wasn’t sent, since an attempt in progress continues; `canceled` confirms that it stopped',
  }),
  'retry-asked': kind({ meaning: 'a user requested an immediate retry' }),
  'move-asked': kind({ meaning: 'a user changed its send time' }),
  'links-revoked': kind({ meaning: 'a user ended its guarded links' }),
  'version-kept': kind({
    meaning:
      'the template version that was due couldn’t be used, for example because it lacks values, so the accepted one was used',
  }),
} satisfies Readonly<Record<string, EventKindFacts>>;

type Table = typeof eventKinds;

export type EventKind = keyof Table;

/** A kind stored in `message_event`. */
export type StoredEventKind = Exclude<EventKind, 'accepted'>;

type KindsWith<Name extends keyof EventKindFacts, Value, Kind extends EventKind = EventKind> = {
  [Each in Kind]: Table[Each][Name] extends Value ? Each : never;
}[Kind];

/** The outcome for one recipient. */
export type OutcomeKind = KindsWith<'state', MessageState, StoredEventKind>;
/** Webhook endpoints can subscribe to it. */
export type WebhookKind = KindsWith<'webhook', string>;
/** Opens and clicks. */
export type ReaderEventKind = KindsWith<'fromReader', true>;
export type SuppressingKind = KindsWith<'suppresses', string>;
/** An event that isn't a recipient's outcome. */
export type NoteKind = Exclude<StoredEventKind, OutcomeKind>;

type KeysOf<Value> = Value extends unknown ? keyof Value : never;
export type ReportColumn = Extract<KeysOf<Table[EventKind]['report']>, string>;

export const eventKindNames = Object.keys(eventKinds) as EventKind[];
export const storedEventKinds = eventKindNames.filter((kind) => kind !== 'accepted');
export const outcomeKinds = storedEventKinds.filter(
  (kind): kind is OutcomeKind => eventKinds[kind].state !== null,
);
export const webhookKinds = eventKindNames.filter(
  (kind): kind is WebhookKind => eventKinds[kind].webhook !== null,
);
export const readerEventKinds = eventKindNames.filter(
  (kind): kind is ReaderEventKind => eventKinds[kind].fromReader,
);
export const suppressingKinds = eventKindNames.filter(
  (kind): kind is SuppressingKind => eventKinds[kind].suppresses !== null,
);

const outcomes: ReadonlySet<EventKind> = new Set(outcomeKinds);

/** Also false for kinds that only another release knows. */
export function isOutcomeKind(kind: EventKind): kind is OutcomeKind {
  return outcomes.has(kind);
}

/** A report column: the kind it counts, and which of its events. */
export interface ReportColumnFacts {
  readonly name: ReportColumn;
  readonly kind: EventKind;
  readonly filter: ReportFilter;
}

/** Report columns in order. Opens and clicks count messages, all others count recipients. */
export const reportColumnFacts: readonly ReportColumnFacts[] = eventKindNames.flatMap((kind) =>
  Object.entries<ReportFilter>(eventKinds[kind].report).map(([name, filter]) => ({
    name: name as ReportColumn,
    kind,
    filter,
  })),
);

/** Each is a column of the totals tables. */
export const reportColumns: readonly (ReportColumn & keyof ReportTotalTable)[] =
  reportColumnFacts.map(({ name }) => name);

export type ReportColumnCounts = Readonly<Record<ReportColumn, number>>;
