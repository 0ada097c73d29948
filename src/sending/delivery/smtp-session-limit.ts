import type { Reply } from './reply.ts';

/**
 * Matches session message limits: `too many messages in this connection` (Exim, Amazon SES), `Max message per
 * connection reached` (Yahoo), `Service unavailable, batch limit reached` (Momentum).
 */
const smtpSessionLimitPattern =
  /\b(messages?|e-?mails?|mails|transactions?)\b[^.]{0,30}\b(per|in|for|on|over|during)( (this|the|a|one|single|same|each|your|smtp)){0,3} (connection|session)\b|\bbatch limit reached\b/i;

/** How a session that had carried messages ended. */
export type SmtpSessionEnd =
  /** We closed it because it reached the message limit. */
  { readonly kind: 'full'; readonly after: number } | SmtpSessionRefusal;

/** The server closed the session or accepted no more messages in it. */
export interface SmtpSessionRefusal {
  readonly kind: 'refused';
  /** Messages the session had carried. */
  readonly after: number;
  /** The server's reply. */
  readonly text: string;
  /** True if the text names the limit; otherwise the end may be a coincidence. */
  readonly named: boolean;
}

/** True if a new session would fix the rejection. */
export function isSmtpSessionLimit(reply: Reply): boolean {
  return reply.code >= 400 && smtpSessionLimitPattern.test(reply.text);
}
