import type { SessionEnd } from '../session-limit.ts';
import type { CrowdTimes } from '../transport.ts';

/** What a group of mail servers under one operator is to the pace: Gmail, or a domain with servers of its own. */
export interface Destination {
  /** Key that all nodes share. */
  readonly name: string;
  /** For people. */
  readonly label: string;
  readonly profile: Profile;
}

/** What an operator is known to take well; where the pace begins, and what it never goes past. */
export interface Profile {
  /** Connections of all nodes together. */
  readonly connections: number;
  /** Until the receiver takes fewer. */
  readonly messagesPerConnection: number;
  /** Messages per second of all nodes together, before anything is learnt. */
  readonly startRate: number;
  readonly mostRate: number;
}

/** What became of a ticket. */
export type TicketUse =
  | { readonly kind: 'accepted' }
  /** The receiver wants less: messages, or connections. */
  | {
      readonly kind: 'slowed';
      readonly what: 'messages' | 'connections';
      readonly text: string;
      /** Seconds that it asked for. */
      readonly after: number | undefined;
    }
  /** No server could be spoken with. */
  | { readonly kind: 'unreachable'; readonly text: string }
  /** Answered, and it says nothing about the pace. */
  | { readonly kind: 'answered' }
  | { readonly kind: 'unused' };

/** Leave to make one transaction with a destination. */
export interface Ticket {
  /** Connections that this node may have open with the destination, those that rest included. */
  readonly connections: number;
  readonly messagesPerConnection: number;
  /** @param ends how sessions with the destination ended since the last ticket that told */
  done(use: TicketUse, ends?: readonly SessionEnd[]): void;
}

export interface Wait {
  readonly milliseconds: number;
  readonly reason: string;
  /** Where many wait: when the others may look. */
  readonly crowd?: CrowdTimes;
}

/** Decides when a destination may be spoken with. */
export interface Pacer {
  admit(destination: Destination, urgent: boolean): Promise<Ticket | Wait>;
}
