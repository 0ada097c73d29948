import { isLostConnection } from '../../base/network/lost-connection.ts';
import { SmtpReplyError } from '../../base/network/smtp-listener.ts';
import type { TraceSpan, Tracing } from '../../base/telemetry/tracing.ts';
import { Busy, Fault, type FaultCode } from '../../base/values/errors.ts';
import { traceRefusal } from '../submission/trace-accept.ts';

/** A reply: code (RFC 5321 section 4.2), enhanced status code (RFC 3463) and text. */
export interface SubmissionReply {
  readonly code: number;
  readonly status: string;
  readonly text: string;
}

function reply(code: number, status: string, text: string): SubmissionReply {
  return { code, status, text };
}

/** The reply for every error of the send operation, so that SMTP and HTTP refuse the same messages. */
export const faultReplies: Readonly<Record<FaultCode, SubmissionReply>> = {
  UNAUTHORIZED: reply(535, '5.7.8', 'Wrong user name or password'),
  ACCOUNT_SUSPENDED: reply(525, '5.7.13', 'Account suspended'),
  INVALID_ID: reply(554, '5.6.0', 'Unknown template'),
  VALIDATION_FAILED: reply(554, '5.6.0', 'Invalid message'),
  SENDER_NOT_ALLOWED: reply(550, '5.7.1', 'Sender not allowed'),
  PERSONALIZATION_FAILURE: reply(554, '5.6.0', 'Missing values'),
  RECIPIENT_SUPPRESSED: reply(550, '5.7.1', 'Recipient suppressed'),
  IDEMPOTENCY_MISMATCH: reply(554, '5.6.0', 'This idempotency key was used with another message'),
  IDEMPOTENCY_IN_PROGRESS: reply(
    451,
    '4.3.0',
    'The same message is still being accepted; try again',
  ),
  QUOTA_EXCEEDED: reply(451, '4.7.1', 'Quota exceeded; try again later'),
  IO_EXCEPTION: reply(451, '4.3.0', 'Not accepted; try again'),
  INTERNAL_ERROR: reply(451, '4.3.0', 'Internal error; try again'),
};

/** Replies that only SMTP has. */
export const protocolReplies = {
  tlsRequired: reply(530, '5.7.0', 'Must issue a STARTTLS command first'),
  loginRequired: reply(530, '5.7.0', 'Authentication required'),
  keyRequired: reply(535, '5.7.8', 'Use the account ID as user name and an API key as password'),
  permissionMissing: reply(
    535,
    '5.7.8',
    'The API key can’t send: it lacks messages:send, or this network isn’t allowed',
  ),
  contentNotPermitted: reply(
    550,
    '5.7.1',
    'The API key can only send with templates: name one in X-Signalpost-Template, or use a key with messages:send-content',
  ),
  loginUnavailable: reply(454, '4.7.0', 'Can’t check credentials now; try again'),
  tooManyLogins: reply(421, '4.7.0', 'Too many wrong passwords; reconnect'),
  tooManySessions: reply(421, '4.7.0', 'Too many open sessions of this account; close some'),
  tooManyMessages: reply(421, '4.7.0', 'Too many messages in this session; reconnect'),
  badRecipient: reply(550, '5.1.3', 'Invalid recipient address'),
  internationalRecipient: reply(553, '5.6.7', 'Send MAIL FROM with SMTPUTF8 to use this address'),
  recipientChanged: reply(
    451,
    '4.7.1',
    'A recipient has just been suppressed; try again without it',
  ),
  messageTooLarge: reply(552, '5.3.4', 'Message too large'),
  noMemory: reply(452, '4.3.1', 'Too much mail at once; try again'),
  bareReturn: reply(
    554,
    '5.6.0',
    'The message has a CR on its own, or a NUL; send lines that end in CRLF',
  ),
};

export type ProtocolReplyName = keyof typeof protocolReplies;

/** A command or message that gets a reply which HTTP has no error for. */
export class SubmissionRefusal extends Error {
  override name = 'SubmissionRefusal';
  readonly reply: SubmissionReply;

  /** @param detail appended to the text */
  constructor(name: ProtocolReplyName, detail?: string) {
    super(name);
    const reply = protocolReplies[name];
    this.reply = detail === undefined ? reply : { ...reply, text: `${reply.text}: ${detail}` };
  }
}

/** What replies call the fields of a send request, by the beginning of their names. */
const fieldNames: readonly (readonly [field: string, name: string])[] = [
  ['envelope.toAddress', 'the recipient'],
  ['envelope.fromAddress', 'From'],
  ['envelope.fromDisplayName', 'the name in From'],
  ['envelope.replyToAddress', 'Reply-To'],
  ['content.personalizationDataMap', 'body'],
  ['content.locale', 'X-Signalpost-Locale'],
  ['metadata.transactional', 'X-Signalpost-Transactional'],
  ['metadata.externalId', 'X-Signalpost-External-Id'],
  ['metadata.tagList', 'X-Signalpost-Tag'],
  ['metadata.attributes', 'X-Signalpost-Attributes'],
  ['actions.sendAt', 'X-Signalpost-Send-At'],
  ['actions.deliverBefore', 'X-Signalpost-Deliver-Before'],
  ['actions.trackOpens', 'X-Signalpost-Track-Opens'],
  ['actions.trackClicks', 'X-Signalpost-Track-Clicks'],
  ['actions.receiveReplies', 'X-Signalpost-Receive-Replies'],
  ['templateId', 'X-Signalpost-Template'],
];

/** RFC 5321 section 4.5.3.1.5 allows 512 octets in a line. */
const maxText = 400;

/** The reply for an error; unexpected ones are temporary, so that no message is lost. */
export function toSubmissionReply(error: unknown): SubmissionReply {
  if (error instanceof SubmissionRefusal) return error.reply;
  if (error instanceof Busy) return protocolReplies.noMemory;
  if (!(error instanceof Fault)) return faultReplies.INTERNAL_ERROR;
  const reply = faultReplies[error.code];
  const [detail, ...more] = error.details;
  if (detail === undefined) return reply;
  const rest = more.length === 0 ? '' : `, and ${more.length} more`;
  return { ...reply, text: `${reply.text}: ${nameField(detail.field)} ${detail.reason}${rest}` };
}

function nameField(field: string): string {
  const known = fieldNames.find(([start]) => field.startsWith(start));
  return known === undefined ? field : known[1] + field.slice(known[0].length);
}

/** The reply as smtp-server sends it: in ASCII (RFC 6531 section 3.7.4.2) and in one line. */
export function toReplyError({ code, status, text }: SubmissionReply): SmtpReplyError {
  const ascii = text.replaceAll('’', "'").replace(/[^ -~]+/g, '?');
  return new SmtpReplyError(code, `${status} ${ascii.trim().slice(0, maxText)}`);
}

/**
 * Runs the receipt of a message in a span that covers it from DATA to the reply, like that of a request over HTTP. Mail has no
 * header for the trace of its sender, so each message begins a trace.
 * @param recipients of the message
 * @param receive gets the span; undefined if it isn't sampled
 */
export async function traceSubmission<Result>(
  tracing: Tracing | undefined,
  recipients: number,
  receive: (span: TraceSpan | undefined) => Promise<Result>,
): Promise<Result> {
  const span = tracing?.startRequest(
    'SMTP DATA',
    {},
    { 'network.protocol.name': 'smtp', 'signalpost.smtp.recipients': recipients },
  );
  if (span === undefined) return receive(undefined);
  try {
    const result = await receive(span);
    span.set({ 'signalpost.smtp.reply_code': 250 });
    return result;
  } catch (error) {
    describeRefusal(span, error);
    throw error;
  } finally {
    span.end();
  }
}

/** Only errors of the service count as failures of a server span. */
function describeRefusal(span: TraceSpan, error: unknown): void {
  if (isLostConnection(error)) {
    span.set({ 'error.type': 'connection_lost' });
    return;
  }
  span.set({ 'signalpost.smtp.reply_code': toSubmissionReply(error).code });
  if (error instanceof SubmissionRefusal) {
    span.set({ 'error.type': error.message });
    return;
  }
  traceRefusal(span, error);
}
