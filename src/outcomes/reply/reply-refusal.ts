import { SmtpReplyError } from '../../base/network/smtp-listener.ts';

/** The outcomes of mail to reply addresses. */
export const replyResults = [
  'stored',
  'repeated',
  'unknown_address',
  'loop',
  'message_full',
  'account_full',
  'too_large',
  'busy',
  'failed',
] as const;

export type ReplyResult = (typeof replyResults)[number];

/** Counts a mail. @param bytes of what is stored now */
export type CountReply = (result: ReplyResult, bytes?: number) => void;

/** The SMTP reply to mail that isn't stored, and why it isn't. */
export class ReplyRefusal extends SmtpReplyError {
  readonly reason: ReplyResult;

  constructor(reason: ReplyResult, code: number, message: string) {
    super(code, message);
    this.reason = reason;
  }
}
