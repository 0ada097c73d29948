import { isUtf8 } from 'node:buffer';
import { decodeTransferEncoding, decodeWords } from '../../base/mime/decode.ts';
import {
  type EmailAddress,
  normalizeAddress,
  parseEmailAddress,
} from '../../base/values/email-address.ts';
import { sendBodyBytes } from '../../host/http/limits/route-limits.ts';
import type { SendAdmission } from '../submission/admit-caller.ts';
import type { AdmittedRequest } from '../submission/check-message.ts';
import { hasControlCharacter } from '../submission/custom-headers.ts';
import { unusableField } from '../submission/describe-body-problems.ts';
import { findInvalidText } from '../submission/find-invalid-text.ts';
import { isJsonType, parseBodyText, unusableBody } from '../submission/read-body-json.ts';
import { maxRecipientName } from '../submission/send-body-schema.ts';
import type { ControlValues } from './read-control-fields.ts';
import { type SubmittedMessage, singleField } from './read-message-head.ts';

/** A mailbox of a header. */
interface SubmittedMailbox {
  readonly address: EmailAddress;
  /** Decoded. */
  readonly name: string | undefined;
}

const maxLength = 2_000;
/**
 * RFC 5322 section 3.4: words, quoted or not, before an address in angle brackets. Comments (section 3.2.2) are read only without
 * what could begin another address; mail programs show them as part of the name.
 */
const withBrackets =
  /^((?:"(?:[^"\\]|\\.)*"|\([^"<>,;:()@\\]*\)|[^"<>,;:()@])*)<\s*([^<>\s]+)\s*>$/;
/** An address alone, or with its name in a comment, as older programs write it. */
const bare = /^([^\s<>,;:()"]+)(?:\s+\(([^()\\]*)\))?$/;

/**
 * Reads a field with exactly one mailbox. Strict, so that no mail program can read another address from it.
 * @returns undefined if it has none, several, or anything ambiguous
 */
export function readMailboxField(value: string): SubmittedMailbox | undefined {
  if (value.length > maxLength) return undefined;
  const [, words, inBrackets] = withBrackets.exec(value) ?? [];
  const [, alone, comment] = inBrackets === undefined ? (bare.exec(value) ?? []) : [];
  const parsed = parseEmailAddress(inBrackets ?? alone ?? '');
  if (!parsed.ok) return undefined;
  const name = readName(words ?? comment);
  // Encoded words can hide them (RFC 2047).
  if (name !== undefined && hasControlCharacter(name)) return undefined;
  return { address: parsed.address, name };
}

function readName(text: string | undefined): string | undefined {
  const unquoted = (text ?? '').replace(/"((?:[^"\\]|\\.)*)"/g, (_, quoted: string) =>
    quoted.replace(/\\(.)/g, '$1'),
  );
  const name = decodeWords(unquoted).replace(/\s+/g, ' ').trim();
  return name === '' ? undefined : name;
}

/** A message for one or more recipients, each of whom gets a separate copy. */
export interface ReceivedMessage {
  readonly message: SubmittedMessage;
  readonly control: ControlValues;
  readonly recipients: readonly [EmailAddress, ...EmailAddress[]];
  readonly idempotencyKey: string | undefined;
}

/**
 * Turns a message with X-Signalpost-Template into a send request: From, its name and Reply-To come from the message,
 * everything else from the control fields and the body.
 * @throws Fault VALIDATION_FAILED
 */
export function toTemplateRequest(
  { message, control, recipients, idempotencyKey }: ReceivedMessage,
  admission: SendAdmission,
  templateText: string,
): AdmittedRequest {
  const values = readTemplateValues(message);
  const [to, ...others] = recipients;
  const from = readOptionalMailbox(message, 'From');
  const replyTo = readOptionalMailbox(message, 'Reply-To');
  const value = {
    envelope: {
      toAddress: to,
      toDisplayName: others.length === 0 ? nameOfRecipient(message, to) : undefined,
      fromAddress: from?.address,
      fromDisplayName: from?.name,
      replyToAddress: replyTo?.address,
    },
    content: { personalizationDataMap: values, locale: control.locale },
    ...toRequestOptions(control),
  };
  return {
    admission,
    templateText,
    contentType: undefined,
    idempotencyKey,
    body: Buffer.from(JSON.stringify(value)),
    parsed: { value, problems: findInvalidText(value) },
    ...(others.length > 0 && { otherRecipients: others }),
  };
}

/** The members of a send request that the control fields set. */
export function toRequestOptions(control: ControlValues) {
  return {
    metadata: {
      transactional: control.transactional,
      externalId: control.externalId,
      tagList: control.tag === undefined ? undefined : [control.tag],
      attributes: control.attributes,
    },
    actions: {
      trackOpens: control.trackOpens,
      trackClicks: control.trackClicks,
      receiveReplies: control.receiveReplies || undefined,
      sendAt: control.sendAt,
      deliverBefore: control.deliverBefore,
    },
  };
}

/** @throws Fault VALIDATION_FAILED if it has no or several addresses */
export function readOptionalMailbox(
  message: SubmittedMessage,
  name: 'From' | 'Reply-To' | 'Sender',
) {
  const field = singleField(message.fields, name);
  if (field === undefined || field.value === '') return undefined;
  const mailbox = readMailboxField(field.value);
  if (mailbox !== undefined) return mailbox;
  throw unusableField(name, 'is not exactly one address, such as Shop <shop@example.com>');
}

/** The name that the message gives its recipient. */
function nameOfRecipient(message: SubmittedMessage, to: EmailAddress): string | undefined {
  const field = message.fields.find(({ name }) => name === 'to');
  const mailbox = field && readMailboxField(field.value);
  const isTheirs =
    mailbox !== undefined && normalizeAddress(mailbox.address) === normalizeAddress(to);
  // Names are optional, so an invalid one is no reason to refuse the message.
  return isTheirs && (mailbox.name?.length ?? 0) <= maxRecipientName ? mailbox.name : undefined;
}

/** Base64 is a third longer than its content, and quoted-printable at most three times. */
const maxEncodedBytes = sendBodyBytes * 3;

/**
 * Reads the values of a template from the body of a message.
 * @throws Fault VALIDATION_FAILED if it isn't a JSON object in UTF-8
 */
function readTemplateValues({ fields, body }: SubmittedMessage): unknown {
  if (!isJsonType(singleField(fields, 'Content-Type')?.value))
    throw unusableBody('with X-Signalpost-Template, the Content-Type must be application/json');
  const encoding = singleField(fields, 'Content-Transfer-Encoding')?.value;
  if (body.length > maxEncodedBytes) throw unusableBody(tooLong);
  const bytes = decodeTransferEncoding(body.toString('latin1'), encoding);
  if (bytes.length > sendBodyBytes) throw unusableBody(tooLong);
  if (!isUtf8(bytes)) throw unusableBody('the body is not valid UTF-8');
  return parseBodyText(bytes.toString('utf8')).value;
}

const tooLong = `the body is longer than ${sendBodyBytes} bytes`;
