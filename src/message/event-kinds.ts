import type { ReportTotalTable } from '../foundation/database/tables.generated.ts';
import type { MessageState } from './message-state.ts';

/** Which of the facts of a kind a report column counts. Opens and clicks are told apart by who made them. */
export type ReportFilter =
  | 'all'
  | 'hard'
  | 'soft'
  | 'people'
  | 'first of people'
  | 'machines'
  | 'first of machines';

/** What the service knows of a kind of event. */
interface EventKindFacts {
  /** The state that it gives its recipient; null: it says nothing about the outcome. */
  readonly state: MessageState | null;
  /** `type` of the webhook that tells of it; null: none does. */
  readonly webhook: `message.${string}` | null;
  /** The report columns that count it, with what each of them counts. */
  readonly report: Readonly<Record<string, ReportFilter>>;
  /** `suppression.reason` of the addresses that it can suppress; null: it suppresses nobody. */
  readonly suppresses: 'hard_bounce' | 'complaint' | 'unsubscribe' | null;
  /** True where it comes from a reader's machine: its detail holds traces of that machine, which are erased with the person. */
  readonly fromReader: boolean;
  readonly meaning: string;
  /** What a reader could take it for, wrongly; empty where there is nothing of that kind. */
  readonly doesNotProve: string;
}

/**
 * Everything that can happen to a message, in the order of the report columns. Adding a kind: a line here, its producer, a
 * migration where it has a state or report column of its own or comes from a reader, and its texts; the compiler names the rest.
 */
export const eventKinds = {
  /** Not a row of `message_event`: the message's own row is this event. */
  accepted: {
    state: 'queued',
    webhook: 'message.accepted',
    report: { accepted: 'all' },
    suppresses: null,
    fromReader: false,
    meaning: 'the message is stored; it will not be lost',
    doesNotProve: 'that any server has seen it',
  },
  delivered: {
    state: 'delivered',
    webhook: 'message.delivered',
    report: { delivered: 'all' },
    suppresses: null,
    fromReader: false,
    meaning: 'the next host took responsibility',
    doesNotProve: 'that anyone has it in an inbox',
  },
  bounced: {
    state: 'bounced',
    webhook: 'message.bounced',
    report: { bounced_hard: 'hard', bounced_soft: 'soft' },
    suppresses: 'hard_bounce',
    fromReader: false,
    meaning: 'a permanent reply; after `delivered`, a bounce message that came by mail',
    doesNotProve: 'that the address never existed',
  },
  deferred: {
    state: 'deferred',
    webhook: 'message.deferred',
    report: { deferred: 'all' },
    suppresses: null,
    fromReader: false,
    meaning: 'a temporary reply or fault; it is retried',
    doesNotProve: 'that anything is wrong with the address',
  },
  expired: {
    state: 'expired',
    webhook: 'message.expired',
    report: { expired: 'all' },
    suppresses: null,
    fromReader: false,
    meaning: 'its retry time or freshness window is over',
    doesNotProve: 'that no attempt reached anyone',
  },
  failed: {
    state: 'failed',
    webhook: 'message.failed',
    report: { failed: 'all' },
    suppresses: null,
    fromReader: false,
    meaning: 'an internal error; the message is kept for a retry by hand',
    doesNotProve: '',
  },
  uncertain: {
    state: 'uncertain',
    webhook: 'message.uncertain',
    report: { uncertain: 'all' },
    suppresses: null,
    fromReader: false,
    meaning: 'the dot was released and no final reply was read',
    doesNotProve: 'that it was or was not delivered',
  },
  suppressed: {
    state: 'suppressed',
    webhook: null,
    report: {},
    suppresses: null,
    fromReader: false,
    meaning: 'the address is suppressed; nothing was sent to it',
    doesNotProve: '',
  },
  canceled: {
    state: 'canceled',
    webhook: 'message.canceled',
    report: { canceled: 'all' },
    suppresses: null,
    fromReader: false,
    meaning: 'stopped before it was sent',
    doesNotProve: '',
  },
  delayed: {
    state: null,
    webhook: 'message.delayed',
    report: {},
    suppresses: null,
    fromReader: false,
    meaning: 'a server that took the message reports that it still tries',
    doesNotProve: 'that it will not arrive',
  },
  complained: {
    state: null,
    webhook: 'message.complained',
    report: { complained: 'all' },
    suppresses: 'complaint',
    fromReader: false,
    meaning: 'the recipient’s provider reports that it was marked as spam',
    doesNotProve: 'that the recipient did so on purpose',
  },
  unsubscribed: {
    state: null,
    webhook: 'message.unsubscribed',
    report: { unsubscribed: 'all' },
    suppresses: 'unsubscribe',
    fromReader: false,
    meaning: 'the message’s unsubscribe link was used',
    doesNotProve: 'that the recipient wants no transactional mail',
  },
  opened: {
    state: null,
    webhook: 'message.opened',
    report: {
      opened_people: 'people',
      opened_people_unique: 'first of people',
      opened_machines: 'machines',
      opened_machines_unique: 'first of machines',
    },
    suppresses: null,
    fromReader: true,
    meaning: 'the image of the message was fetched',
    doesNotProve: 'that a person looked at it; without it, that nobody did',
  },
  clicked: {
    state: null,
    webhook: 'message.clicked',
    report: {
      clicked_people: 'people',
      clicked_people_unique: 'first of people',
      clicked_machines: 'machines',
      clicked_machines_unique: 'first of machines',
    },
    suppresses: null,
    fromReader: true,
    meaning: 'a link of the message was followed',
    doesNotProve: 'that a person did',
  },
  redirected: {
    state: null,
    webhook: null,
    report: {},
    suppresses: null,
    fromReader: false,
    meaning: 'it was sent to the address of `DELIVERY_REDIRECT` instead of its recipients',
    doesNotProve: 'that a recipient has it',
  },
  warning: {
    state: null,
    webhook: null,
    report: {},
    suppresses: null,
    fromReader: false,
    meaning: 'something in it was changed while it was rendered, such as a link that was emptied',
    doesNotProve: '',
  },
  'pause-asked': {
    state: null,
    webhook: null,
    report: {},
    suppresses: null,
    fromReader: false,
    meaning: 'a person paused it',
    doesNotProve: 'that an attempt under way stopped',
  },
  'resume-asked': {
    state: null,
    webhook: null,
    report: {},
    suppresses: null,
    fromReader: false,
    meaning: 'a person resumed it',
    doesNotProve: '',
  },
  'cancel-asked': {
    state: null,
    webhook: null,
    report: {},
    suppresses: null,
    fromReader: false,
    meaning: 'a person canceled it',
    doesNotProve:
      'that it was not sent: an attempt under way goes on; `canceled` says that it was stopped',
  },
  'retry-asked': {
    state: null,
    webhook: null,
    report: {},
    suppresses: null,
    fromReader: false,
    meaning: 'a person asked for a retry now',
    doesNotProve: '',
  },
} as const satisfies Readonly<Record<string, EventKindFacts>>;

type Table = typeof eventKinds;

export type EventKind = keyof Table;

/** A kind that `message_event` has rows of. */
export type StoredEventKind = Exclude<EventKind, 'accepted'>;

type KindsWith<Name extends keyof EventKindFacts, Value, Kind extends EventKind = EventKind> = {
  [Each in Kind]: Table[Each][Name] extends Value ? Each : never;
}[Kind];

/** Says what became of one recipient. */
export type OutcomeKind = KindsWith<'state', MessageState, StoredEventKind>;
/** An endpoint can ask for it. */
export type WebhookKind = KindsWith<'webhook', string>;
/** Opens and clicks. */
export type ReaderEventKind = KindsWith<'fromReader', true>;
export type SuppressingKind = KindsWith<'suppresses', string>;
/** Something to know about a message that is no recipient's outcome. */
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

/** False also of a kind that only another release knows. */
export function isOutcomeKind(kind: EventKind): kind is OutcomeKind {
  return outcomes.has(kind);
}

/** A column of reports: the kind that it counts, and which of them. */
export interface ReportColumnFacts {
  readonly name: ReportColumn;
  readonly kind: EventKind;
  readonly filter: ReportFilter;
}

/** What reports count, in their order. Deliveries and what follows them count recipients, opens and clicks count messages. */
export const reportColumnFacts: readonly ReportColumnFacts[] = eventKindNames.flatMap((kind) =>
  Object.entries<ReportFilter>(eventKinds[kind].report).map(([name, filter]) => ({
    name: name as ReportColumn,
    kind,
    filter,
  })),
);

/** Each is a column of the tables that totals stand in. */
export const reportColumns: readonly (ReportColumn & keyof ReportTotalTable)[] =
  reportColumnFacts.map(({ name }) => name);

export type ReportColumnCounts = Readonly<Record<ReportColumn, number>>;
