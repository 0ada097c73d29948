import type { SmtpSessionLimits } from '../foundation/network/smtp-session-limits.ts';
import { policies } from '../foundation/policies.ts';

/** Recipients of one message; further ones get 452, so the client sends them in another transaction. */
export const maxSubmissionRecipients = 50;

/** The limits of a session; most commands are RCPTs. */
export const submissionSessionLimits: SmtpSessionLimits = {
  sessions: policies.submissionSessions,
  commandsPerMessage: 2 * maxSubmissionRecipients + 20,
  messagesPerSession: 1_000,
  firstIdleMs: 60_000,
  // RFC 5321 section 4.5.3.2.7.
  idleMs: 5 * 60_000,
  transactionMs: 15 * 60_000,
  bytesPerSecond: 32 * 1_024 ** 2,
};
