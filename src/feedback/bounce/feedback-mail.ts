import type { PermanentCause, TemporaryCause } from '../../delivery/reply-rules.ts';

/** What a mail that came to a return path says. */
export type FeedbackMail =
  /** The message was not delivered, and nobody tries any more. */
  | {
      readonly kind: 'bounce';
      readonly permanent: boolean;
      readonly cause: PermanentCause | TemporaryCause;
      /** Enhanced status (RFC 3463), where one was found. */
      readonly status: string | undefined;
      /** The words of the server or its report, bounded, without addresses. */
      readonly diagnostic: string;
    }
  /** Somebody still tries. */
  | { readonly kind: 'delay'; readonly status: string | undefined; readonly diagnostic: string }
  /** The recipient's provider reports it as spam. */
  | { readonly kind: 'complaint'; readonly feedbackType: string }
  /** Delivered, relayed, expanded, read: nothing is wrong. */
  | { readonly kind: 'notice'; readonly what: string }
  /** A vacation message or another automatic answer (RFC 3834). */
  | { readonly kind: 'auto-reply' }
  | { readonly kind: 'unknown' };
