import type { Reply } from './reply.ts';
import type { SmtpSessionEnd } from './smtp-session-limit.ts';

/** One SMTP transaction to make. */
export interface OutgoingMail {
  readonly from: string;
  /** Without repetitions. */
  readonly to: readonly string[];
  /** With CRLF line ends, not dot-stuffed. */
  readonly raw: Buffer;
  readonly needsSmtpUtf8: boolean;
  /** Where connections are scarce, groups take turns. */
  readonly group?: string;
}

/** How far a dialogue had come. */
export type Stage = 'connect' | 'mail' | 'rcpt' | 'data' | 'final';

/** How a transaction ended. */
export type TransactionEnd =
  /** The server's last word; at `final`, it took the message or not. */
  | { readonly kind: 'reply'; readonly stage: Stage; readonly reply: Reply }
  /** No answer that counts, and the final dot has not left. */
  | {
      readonly kind: 'fault';
      readonly stage: Stage;
      readonly fault: FaultKind;
      readonly text: string;
    }
  /** The final dot left and no reply came. */
  | { readonly kind: 'uncertain'; readonly text: string }
  /** The message cannot go there at all: too large, SMTPUTF8 is missing, or the domain takes no mail. */
  | {
      readonly kind: 'unfit';
      readonly cause: 'size' | 'unsupported' | 'no-domain';
      readonly text: string;
    }
  /** The lease was lost; the connection was dropped without the dot. */
  | { readonly kind: 'lost' }
  /** The service stops; nothing was sent. */
  | { readonly kind: 'stopped' };

export type FaultKind =
  | 'name'
  | 'connection'
  | 'tls'
  | 'timeout'
  | 'closed'
  | 'protocol'
  /** Ours: no source address may be used now. */
  | 'source'
  /** Ours: whether the dot may leave could not be recorded. */
  | 'database';

export interface TransactionResult {
  /** Recipients that were refused while others went on. */
  readonly refused: ReadonlyMap<string, Reply>;
  readonly end: TransactionEnd;
  /** `host:port` of the server. */
  readonly server: string;
  /** The dialogue without credentials and content, bounded. */
  readonly transcript: readonly string[];
  /** How sessions with the server ended since the last result that told. */
  readonly sessionEnds?: readonly SmtpSessionEnd[];
}

/** What a transport that paces itself wants to know before it lets a message go. */
export interface MailOutline {
  readonly to: readonly string[];
  /** Envelope and header domain of the sender. */
  readonly fromDomain: string;
  /** Transactional messages go before others. */
  readonly urgent: boolean;
  /** Names the source addresses to send from, where there are several sets. */
  readonly pool?: string | undefined;
}

/**
 * Makes one transaction. Never throws for what the outside does.
 * @param releaseDot asked once the message's text is on its way; only where it answers true does the final dot leave
 */
export type SendMail = (
  mail: OutgoingMail,
  releaseDot: () => Promise<boolean>,
  stopping: AbortSignal,
) => Promise<TransactionResult>;

/** Leave to make one transaction. Either `send` or `cancel` is called, once. */
export interface AdmittedTransaction {
  /** Recipients of the transaction. */
  readonly to: readonly string[];
  readonly send: SendMail;
  cancel(): void;
}

/** Recipients that have to wait although nothing is wrong with the message. */
export interface Postponement {
  readonly to: readonly string[];
  readonly delayMs: number;
  /** For people: who asked for it, what holds now, when next. */
  readonly reason: string;
  /** Present where so many wait already that others of the same domain need not be looked at one by one. */
  readonly backlog?: BacklogSchedule | undefined;
}

/** When the rest of a queue may be looked at; see `Crowd` of the queue. */
export interface BacklogSchedule {
  readonly after: number;
  readonly spacing: number;
  readonly until: number;
  readonly reason: string;
  /** Told how many of these times were given out. */
  consume(count: number): void;
}

export interface SendingAdmission {
  readonly transactions: readonly AdmittedTransaction[];
  readonly postponed: readonly Postponement[];
}

/** Leave for everything at once, in one transaction: for transports that have no rate limits. */
export function admitAll({ to }: MailOutline, send: SendMail): SendingAdmission {
  return { transactions: [{ to, send, cancel: () => undefined }], postponed: [] };
}

/** Hands mail to the next host. */
export interface Transport {
  /** Says what may leave now, one permit for each transaction. */
  admit(outline: MailOutline): Promise<SendingAdmission>;
  /** Drops every connection, whatever it is doing. */
  drop(): void;
  /** Says goodbye on idle connections. */
  close(): Promise<void>;
}
