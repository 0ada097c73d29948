import type { SmtpSessionEnd } from '../smtp-session-limit.ts';
import type { BacklogSchedule } from '../transport.ts';

/** Mail servers of one operator that share a rate limit: Gmail, or a domain with its own servers. */
export interface Destination {
  /** Key shared by all nodes. */
  readonly name: string;
  /** Display name. */
  readonly label: string;
  /** The name of a known operator. */
  readonly operator?: string;
  readonly profile: DestinationProfile;
}

/** Known limits of an operator: the initial rate, and the max for what is learned. */
export interface DestinationProfile {
  /** Across all nodes. */
  readonly connections: number;
  /** Initial value, until the receiver accepts fewer. */
  readonly messagesPerConnection: number;
  /** Initial messages per second across all nodes, before anything is learned. */
  readonly startRate: number;
  readonly maxRate: number;
}

/** How the use of a slot ended. */
export type SlotOutcome =
  | { readonly kind: 'accepted' }
  /** The receiver asks for fewer messages or connections. */
  | {
      readonly kind: 'slowed';
      readonly what: 'messages' | 'connections';
      readonly text: string;
      /** Delay in seconds that it asked for. */
      readonly after: number | undefined;
    }
  /** No server could be reached. */
  | { readonly kind: 'unreachable'; readonly text: string }
  /** The server replied, without any effect on the rate. */
  | { readonly kind: 'answered' }
  | { readonly kind: 'unused' };

/** Permission for one transaction with a destination. */
export interface LimiterSlot {
  /** Max open connections from this node to the destination, including idle ones. */
  readonly connections: number;
  readonly messagesPerConnection: number;
  /** @param ends how sessions with the destination ended since they were last reported */
  release(outcome: SlotOutcome, ends?: readonly SmtpSessionEnd[]): void;
}

export interface LimiterDelay {
  readonly delayMs: number;
  readonly reason: string;
  /** Set if there is a backlog: when the others may be checked. */
  readonly backlog?: BacklogSchedule;
}
