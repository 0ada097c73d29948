import { type EmailAddress, normalizeAddress } from '../foundation/email-address.ts';
import { hashInPieces } from '../submission/decode-base64.ts';
import type { SubmittedMessage } from './read-message-head.ts';

/**
 * The idempotency key of a message: a client that got no reply repeats the message, and the repetition has the same key. A
 * message to other recipients has another one, because relays split the recipients of one message.
 * @param recipients sorted
 * @param given the caller's own key, which replaces the content
 * @returns undefined without a Message-ID: two messages with the same text may both be meant
 */
export async function makeSubmissionKey(
  { fields, body }: SubmittedMessage,
  recipients: readonly EmailAddress[],
  given: string | undefined,
): Promise<string | undefined> {
  if (given === undefined && !fields.some(({ name }) => name === 'message-id')) return undefined;
  const to = recipients.map(normalizeAddress).join('\n');
  const head = Buffer.from(`${given === undefined ? 'message' : 'key'}\n${to}\n\n`);
  // Each relay on the way adds a Received field, with a new one for each attempt.
  const parts =
    given === undefined
      ? fields
          .filter(({ name }) => name !== 'received')
          .map(({ raw }) => Buffer.from(raw, 'latin1'))
      : [Buffer.from(given)];
  const hash = await hashInPieces([
    Buffer.concat([head, ...parts]),
    ...(given === undefined ? [body] : []),
  ]);
  return `smtp-${Buffer.from(hash, 'latin1').toString('base64url')}`;
}
