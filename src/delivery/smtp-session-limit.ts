import type { Reply } from './reply.ts';

/**
 * Words about how many messages one session may carry: `too many messages in this connection` (Exim, Amazon SES),
 * `Max message per connection reached` (Yahoo), `Service unavailable, batch limit reached` (Momentum).
 */
const smtpSessionLimitPattern =
  /\b(messages?|e-?mails?|mails|transactions?)\b[^.]{0,30}\b(per|in|for|on|over|during)( (this|the|a|one|single|same|each|your|smtp)){0,3} (connection|session)\b|\bbatch limit reached\b/i;

/** How a session ended that had carried messages. */
export type SmtpSessionEnd =
  /** It had carried as many as it may, and was said goodbye to. */
  { readonly kind: 'full'; readonly after: number } | SmtpSessionRefusal;

/** The server ended the session, or took no more over it. */
export interface SmtpSessionRefusal {
  readonly kind: 'refused';
  /** Messages that it had carried. */
  readonly after: number;
  /** What the server said. */
  readonly text: string;
  /** The text names the limit; otherwise the end may be a chance. */
  readonly named: boolean;
}

/** True for a refusal that another session mends. */
export function isSmtpSessionLimit(reply: Reply): boolean {
  return reply.code >= 400 && smtpSessionLimitPattern.test(reply.text);
}
