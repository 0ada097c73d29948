import type { MaybePromise } from '../../base/values/maybe-promise.ts';
import type { Reply } from './reply.ts';
import type { SmtpSessionEnd } from './smtp-session-limit.ts';

/** The mail of one SMTP transaction. */
export interface OutgoingMail {
  readonly from: string;
  /** Without duplicates. */
  readonly to: readonly string[];
  /** With CRLF line endings, not dot-stuffed. */
  readonly raw: Buffer;
  readonly needsSmtpUtf8: boolean;
  /** Makes the message for a server without 8BITMIME (RFC 6152); absent: `raw` has 7 bits. */
  readonly toSevenBit?: (() => MaybePromise<Buffer>) | undefined;
  /** Groups take turns when connections are scarce. */
  readonly group?: string;
}

/** The step that a dialogue had reached. */
export type Stage = 'connect' | 'mail' | 'rcpt' | 'data' | 'final';

/** How a transaction ended. */
export type TransactionEnd =
  /** The server's last reply; at `final`, whether it accepted the message. */
  | { readonly kind: 'reply'; readonly stage: Stage; readonly reply: Reply }
  /** No conclusive reply, and the final dot wasn't sent. */
  | {
      readonly kind: 'fault';
      readonly stage: Stage;
      readonly fault: FaultKind;
      readonly text: string;
    }
  /** The final dot was sent, but no reply came. */
  | { readonly kind: 'uncertain'; readonly text: string }
  /** The message can't be sent there: too large, no SMTPUTF8, or the domain accepts no mail. */
  | {
      readonly kind: 'unfit';
      readonly cause: 'size' | 'unsupported' | 'no-domain';
      readonly text: string;
    }
  /** The lease was lost; the connection was dropped before the dot. */
  | { readonly kind: 'lost' }
  /** The service is stopping; nothing was sent. */
  | { readonly kind: 'stopped' };

/** False if nothing was sent to a server. */
export function hasReachedServer(end: TransactionEnd): boolean {
  if (end.kind === 'fault') return end.stage !== 'connect';
  return end.kind !== 'stopped' && end.kind !== 'unfit';
}

export type FaultKind =
  | 'name'
  | 'connection'
  | 'tls'
  | 'timeout'
  | 'closed'
  | 'protocol'
  /** Ours: no source address is available now. */
  | 'source'
  /** Ours: the destination's rate limit. */
  | 'limit'
  /** Ours: permission to send the dot could not be recorded. */
  | 'database';

export interface TransactionResult {
  /** Recipients that were rejected while others were accepted. */
  readonly refused: ReadonlyMap<string, Reply>;
  readonly end: TransactionEnd;
  /** The server as `host:port`. */
  readonly server: string;
  /** The operator of the server, if it is a known one. */
  readonly receiver?: string | undefined;
  /** By which the reports of a relay name the delivery, if its reply says so. */
  readonly relayId?: string | undefined;
  /** The dialogue without credentials and content, bounded. */
  readonly transcript: readonly string[];
  /** How sessions with the server ended since they were last reported. */
  readonly sessionEnds?: readonly SmtpSessionEnd[];
}

/** The result of a transaction that no server answered. @param server who ended it instead */
export function withoutServer(end: TransactionEnd, server = ''): TransactionResult {
  return { refused: new Map(), end, server, transcript: [] };
}

/** What a rate-limited transport needs to know before it admits a message. */
export interface MailOutline {
  readonly to: readonly string[];
  /** Transactional messages go before others. */
  readonly urgent: boolean;
  /** The source address pool, if there are several. */
  readonly pool?: string | undefined;
}

/**
 * Runs one transaction. Never throws for remote or network errors.
 * @param releaseDot called while the message's text is being sent; the final dot is sent only if it returns true
 */
export type SendMail = (
  mail: OutgoingMail,
  releaseDot: () => Promise<boolean>,
  stopping: AbortSignal,
) => Promise<TransactionResult>;

/** Permission for one transaction. Call either `send` or `cancel`, once. */
export interface AdmittedTransaction {
  readonly to: readonly string[];
  readonly send: SendMail;
  cancel(): void;
}

/** Recipients that have to wait although nothing is wrong with the message. */
export interface Postponement {
  readonly to: readonly string[];
  readonly delayMs: number;
  /** For display: the cause, the current limit and the next attempt. */
  readonly reason: string;
  /** Set if there are too many waiting messages for the domain to check individually. */
  readonly backlog?: BacklogSchedule | undefined;
}

/** When the rest of a queue may be rechecked; see `Backlog` of the queue. */
export interface BacklogSchedule {
  readonly after: number;
  readonly spacing: number;
  readonly until: number;
  readonly reason: string;
  /** Reports how many of these times were assigned. */
  consume(count: number): void;
}

export interface SendingAdmission {
  readonly transactions: readonly AdmittedTransaction[];
  readonly postponed: readonly Postponement[];
}

/** Admits everything at once in one transaction, for transports without rate limits. */
export function admitAll({ to }: MailOutline, send: SendMail): SendingAdmission {
  return { transactions: [{ to, send, cancel: () => undefined }], postponed: [] };
}

/** Hands mail to the next host. */
export interface Transport {
  /** Returns what may be sent now, one permission per transaction. */
  admit(outline: MailOutline): Promise<SendingAdmission>;
  /** Drops every connection immediately. */
  drop(): void;
  /** Closes idle connections with QUIT. */
  close(): Promise<void>;
}
