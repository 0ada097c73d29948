import type { SmtpSessionLimits } from '../../foundation/network/smtp-session-limits.ts';
import { policies } from '../../foundation/policies.ts';

/** The limits of a session with the bounce server; a message with STARTTLS needs seven commands. */
export const bounceSessionLimits: SmtpSessionLimits = {
  sessions: policies.bounceSessions,
  commandsPerMessage: 20,
  messagesPerSession: 100,
  firstIdleMs: 60_000,
  idleMs: 60_000,
  transactionMs: 10 * 60_000,
  bytesPerSecond: 16 * 1_024 ** 2,
};
