import type { Log } from '../foundation/log.ts';
import { andThen, type MaybePromise } from '../foundation/maybe-promise.ts';
import {
  type AttemptNote,
  type AttemptResult,
  attemptLogFields,
  type ClaimedMessage,
} from '../queue/attempt.ts';
import { RenderingTooLarge } from '../rendering/rendering-too-large.ts';
import { postponedResult, resultTooLarge, resultUnrenderable } from './attempt-results.ts';
import { AttachmentsUnreadable } from './load-attachments.ts';
import type { PreparedMail } from './prepare-mail.ts';
import type { SendingIdentity } from './sending-identity.ts';

const attachmentRetryMs = 5_000;

/** A message's signed bytes, ready for any of its transactions. */
export interface PreparedTransaction {
  readonly raw: Buffer;
  /** Variant for recipients that don't need SMTPUTF8, if it differs. */
  readonly ascii: Buffer | undefined;
  /** Makes the variant for servers without 8BITMIME; undefined: any server accepts the message. */
  readonly toSevenBit: (() => MaybePromise<Buffer>) | undefined;
  readonly needsSmtpUtf8: boolean;
  readonly notes: readonly AttemptNote[];
}

/**
 * Renders and signs a message.
 * @returns the attempt's result if that fails
 */
export async function prepareTransaction(
  message: ClaimedMessage,
  prepare: () => Promise<PreparedMail>,
  identity: SendingIdentity,
  log: Log,
): Promise<PreparedTransaction | AttemptResult> {
  const sign = (raw: Buffer): Buffer => identity.sign(raw, message.acceptedAt);
  try {
    const { mail, notes } = await prepare();
    const { composeSevenBit } = mail;
    return {
      raw: sign(mail.raw),
      ascii: mail.composeAscii && sign(mail.composeAscii()),
      toSevenBit: composeSevenBit && (() => andThen(composeSevenBit(), sign)),
      needsSmtpUtf8: mail.needsSmtpUtf8,
      notes,
    };
  } catch (error) {
    if (error instanceof RenderingTooLarge) return resultTooLarge(message, error);
    if (error instanceof AttachmentsUnreadable) {
      log.warn({ err: error, ...attemptLogFields(message) }, 'could not read attachments');
      return postponedResult(message, attachmentRetryMs, 'its attachments could not be read');
    }
    log.error({ err: error, ...attemptLogFields(message) }, 'could not render a message');
    return resultUnrenderable(message, error);
  }
}
