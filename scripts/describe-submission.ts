import type { FaultCode } from '../src/base/values/errors.ts';
import { controlFields } from '../src/sending/smtp-submission/read-control-fields.ts';
import {
  faultReplies,
  type ProtocolReplyName,
  protocolReplies,
  type SubmissionReply,
} from '../src/sending/smtp-submission/submission-replies.ts';

/** When only SMTP has a reply. */
const occasions: Readonly<Record<ProtocolReplyName, string>> = {
  tlsRequired: 'a command other than `EHLO`, `NOOP`, `RSET`, `HELP` and `QUIT` before TLS',
  loginRequired: '`MAIL` before `AUTH`',
  keyRequired: 'the password isn’t an API key',
  permissionMissing: 'the key lacks the scope `messages:send`, or isn’t allowed from this network',
  contentNotPermitted:
    'the key lacks the scope `messages:send-content`, and the message names no template',
  loginUnavailable: 'the database doesn’t respond',
  tooManyLogins: 'the fourth attempt to log in',
  tooManySessions: 'the account has 50 open sessions',
  tooManyMessages: 'the session has sent 1,000 messages',
  badRecipient: 'a recipient isn’t an email address',
  internationalRecipient: 'a recipient needs SMTPUTF8 (RFC 6531)',
  recipientChanged: 'a recipient was suppressed after `RCPT`; nothing was accepted',
  messageTooLarge: 'the message is over the account’s limit',
  noMemory: 'many large messages are being received',
  bareReturn: 'a CR stands without its LF (RFC 5321 section 2.3.8)',
};

/** The tables of docs/smtp.md: the fields that control sending, and the replies. */
export function describeSubmission(): Readonly<Record<'fields' | 'replies', string>> {
  const fields = Object.values(controlFields).map(
    ({ name, meaning }) => `| \`${name}\` | ${meaning} |`,
  );
  const replies = [
    ...Object.entries(faultReplies).map(([code, reply]) =>
      toReplyRow(reply, `\`${code as FaultCode}\``),
    ),
    ...Object.entries(protocolReplies).map(([name, reply]) =>
      toReplyRow(reply, occasions[name as ProtocolReplyName]),
    ),
  ].sort();
  return {
    fields: ['| header field | meaning |', '| --- | --- |', ...fields].join('\n'),
    replies: ['| reply | text | when |', '| --- | --- | --- |', ...replies].join('\n'),
  };
}

function toReplyRow({ code, status, text }: SubmissionReply, when: string): string {
  return `| ${code} ${status} | ${text} | ${when} |`;
}
