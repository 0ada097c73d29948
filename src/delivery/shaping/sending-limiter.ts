import type { SmtpSessionEnd } from '../smtp-session-limit.ts';
import type { BacklogSchedule } from '../transport.ts';

/** What a group of mail servers under one operator is to the pace: Gmail, or a domain with servers of its own. */
export interface Destination {
  /** Key that all nodes share. */
  readonly name: string;
  /** For people. */
  readonly label: string;
  readonly profile: DestinationProfile;
}

/** What an operator is known to take well; where the pace begins, and what it never goes past. */
export interface DestinationProfile {
  /** Connections of all nodes together. */
  readonly connections: number;
  /** Until the receiver takes fewer. */
  readonly messagesPerConnection: number;
  /** Messages per second of all nodes together, before anything is learnt. */
  readonly startRate: number;
  readonly maxRate: number;
}

/** What became of a ticket. */
export type SlotOutcome =
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
export interface LimiterSlot {
  /** Connections that this node may have open with the destination, those that rest included. */
  readonly connections: number;
  readonly messagesPerConnection: number;
  /** @param ends how sessions with the destination ended since the last ticket that told */
  release(outcome: SlotOutcome, ends?: readonly SmtpSessionEnd[]): void;
}

export interface LimiterDelay {
  readonly delayMs: number;
  readonly reason: string;
  /** Where many wait: when the others may look. */
  readonly backlog?: BacklogSchedule;
}

/** Decides when a destination may be spoken with. */
export interface SendingLimiter {
  admit(destination: Destination, urgent: boolean): Promise<LimiterSlot | LimiterDelay>;
}
