import type { PermanentCause, TemporaryCause } from '../../delivery/reply-rules.ts';

/** What mail to a return path says. */
export type FeedbackMail =
  /** Delivery failed permanently. */
  | {
      readonly kind: 'bounce';
      readonly permanent: boolean;
      readonly cause: PermanentCause | TemporaryCause;
      /** Enhanced status (RFC 3463), if there was one. */
      readonly status: string | undefined;
      /** Text of the server or its report, bounded, without addresses. */
      readonly diagnostic: string;
    }
  /** Still being retried. */
  | { readonly kind: 'delay'; readonly status: string | undefined; readonly diagnostic: string }
  /** The recipient's provider reports it as spam. */
  | {
      readonly kind: 'complaint';
      readonly feedbackType: string;
      /** MAIL FROM of the message, if the report names it. */
      readonly mailFrom?: string | undefined;
    }
  /** Delivered, relayed, expanded or read: nothing is wrong. */
  | { readonly kind: 'notice'; readonly what: string }
  /** A vacation message or another automatic reply (RFC 3834). */
  | { readonly kind: 'auto-reply' }
  | { readonly kind: 'unknown' };
