import type { MaybePromise } from '../../base/values/maybe-promise.ts';
import type { Reply } from './reply.ts';
import type { SmtpSessionEnd } from './smtp-session-limit.ts';

/** The mail of one SMTP transaction, which has one recipient: reports about it come to its return path. */
export interface OutgoingMail {
  readonly from: string;
  readonly to: string;
  /** With CRLF line endings, not dot-stuffed. */
  readonly raw: Buffer;
  readonly needsSmtpUtf8: boolean;
  /** Makes the message for a server without 8BITMIME (RFC 6152); absent: `raw` has 7 bits. */
  readonly toSevenBit?: (() => MaybePromise<Buffer>) | undefined;
  /** Groups take turns when connections are scarce. */
  readonly group?: string;
  /** ENVID (RFC 3461 section 4.4), for a server with DSN. */
  readonly envelopeId?: string | undefined;
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
  /** Ours: permission to send the dot could not be recorded. */
  | 'database';

export interface TransactionResult {
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
  return { end, server, transcript: [] };
}

/** What a rate-limited transport needs to know before it admits a message to a recipient. */
export interface MailOutline {
  readonly to: string;
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
  readonly send: SendMail;
  cancel(): void;
}

/** The recipient has to wait although nothing is wrong with the message. */
export interface Postponement {
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

/** Needs no permission, as with transports without rate limits. */
export function admitAlways(send: SendMail): AdmittedTransaction {
  return { send, cancel: () => undefined };
}

/** Hands mail to the next host. */
export interface Transport {
  /** Whether a message may be sent to one recipient now. */
  admit(outline: MailOutline): Promise<AdmittedTransaction | Postponement>;
  /** Drops every connection immediately. */
  drop(): void;
  /** Closes idle connections with QUIT. */
  close(): Promise<void>;
}
