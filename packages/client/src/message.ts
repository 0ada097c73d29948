import type { TemplateId, Templates } from './templates.ts';

/** An email address, with an optional display name. */
export type Address = string | { readonly address: string; readonly name: string };

export interface Attachment {
  readonly filename: string;
  /** A media type, such as `application/pdf`. */
  readonly contentType: string;
  /** The bytes of the file; a string is base64. */
  readonly content: Uint8Array | string;
  /** Shows the file inline where the template's HTML has `cid:` and this id. */
  readonly contentId?: string;
}

/** What a value of a field can be: fields of the kinds list and object take JSON. */
export type Value = string | readonly Value[] | { readonly [name: string]: Value };

interface MessageBase {
  readonly to: Address;
  /** At most 5 addresses. */
  readonly cc?: readonly string[];
  /** At most 5 addresses. */
  readonly bcc?: readonly string[];
  /** A verified sender. Default: the template's sender. */
  readonly from?: Address;
  /** A verified sender. Default: the From address. */
  readonly replyTo?: string;
  /** At most 90 characters. Default: the template's subject. */
  readonly subject?: string;
  /** At most 240 characters. Default: the template's preview text. */
  readonly previewText?: string;
  readonly attachments?: readonly Attachment[];
  readonly headers?: Readonly<Record<string, string>>;
  /** A critical, non-commercial notification; needs the transactional add-on. */
  readonly transactional?: boolean;
  /** Your own identifier, such as an order number; at most 128 characters. */
  readonly externalId?: string;
  /** Groups reports; at most 48 characters. */
  readonly tag?: string;
  /** Returned in events; at most 20. */
  readonly attributes?: Readonly<Record<string, string>>;
  /** Default: false. */
  readonly trackOpens?: boolean;
  /** Default: false. */
  readonly trackClicks?: boolean;
  /** False: a message that can't be delivered within the template's freshness window expires. Default: true. */
  readonly deliverWhenDelayed?: boolean;
  /** Up to 365 days ahead. Default: now. */
  readonly sendAt?: Date | string;
  /** A message that can't be delivered before this time expires. */
  readonly deliverBefore?: Date | string;
  /** Replies go to webhooks as `message.replied`. Not with `replyTo`. Default: false. */
  readonly receiveReplies?: boolean;
  /** Which version of the template a scheduled message uses. Default: `accepted`. */
  readonly templateVersion?: 'accepted' | 'due';
  /**
   * The result has a `statusUrl` for the person who waits, which works for 15 minutes. `private`: the link doesn't tell a message that
   * waits from one that never arrives, and the error for a suppressed address has one too. `resendAfterSeconds`: when the page offers
   * to send again, up to 900. Default: false.
   */
  readonly statusToken?:
    | boolean
    | { readonly private?: boolean; readonly resendAfterSeconds?: number };
  /**
   * Repeating a call with the same key within 24 hours never sends twice. Default: a new key for each call, kept across its
   * retries.
   */
  readonly idempotencyKey?: string;
}

type DataOf<Id extends TemplateId> = Id extends keyof Templates
  ? Templates[Id] extends { readonly data: infer Data }
    ? Data
    : Readonly<Record<string, Value>>
  : Readonly<Record<string, Value>>;

type LocaleOf<Id extends TemplateId> = Id extends keyof Templates
  ? Templates[Id] extends { readonly locale: infer Locale }
    ? Locale
    : string
  : string;

type WithData<Data> =
  Record<never, never> extends Data ? { readonly data?: Data } : { readonly data: Data };

/** One email made from a template. `data` has the template's fields, `locale` its languages. */
export type Message<Id extends TemplateId = TemplateId> = MessageBase &
  WithData<DataOf<Id>> & {
    /** The language (BCP 47) of the recipient; the best variant of the template is used. */
    readonly locale?: LocaleOf<Id>;
  };

/** The parts of any message, whatever its template. */
type AnyMessage = MessageBase & {
  readonly data?: unknown;
  readonly locale?: unknown;
};

/** The body of the send operation (contract 2.2), without members that aren't set. */
export function bodyOf(message: AnyMessage): Record<string, unknown> {
  const to = partsOf(message.to);
  const from = message.from === undefined ? undefined : partsOf(message.from);
  const content = given({
    subjectLine: message.subject,
    previewText: message.previewText,
    personalizationDataMap: message.data,
    locale: message.locale,
    attachments: message.attachments?.map(attachmentOf),
    headers: message.headers,
  });
  const metadata = given({
    transactional: message.transactional,
    externalId: message.externalId,
    tagList: message.tag === undefined ? undefined : [message.tag],
    attributes: message.attributes,
  });
  return given({
    envelope: given({
      toAddress: to.address,
      toDisplayName: to.name,
      ccAddressList: message.cc,
      bccAddressList: message.bcc,
      fromAddress: from?.address,
      fromDisplayName: from?.name,
      replyToAddress: message.replyTo,
    }),
    content: Object.keys(content).length === 0 ? undefined : content,
    metadata: Object.keys(metadata).length === 0 ? undefined : metadata,
    actions: given({
      trackOpens: message.trackOpens ?? false,
      trackClicks: message.trackClicks ?? false,
      deliveryWhenDelayed:
        message.deliverWhenDelayed === undefined
          ? undefined
          : message.deliverWhenDelayed
            ? 'TRUE'
            : 'FALSE',
      sendAt: timeOf(message.sendAt),
      deliverBefore: timeOf(message.deliverBefore),
      receiveReplies: message.receiveReplies,
      templateVersion: message.templateVersion,
      statusToken: message.statusToken,
    }),
  });
}

function partsOf(address: Address): { address: string; name: string | undefined } {
  return typeof address === 'string' ? { address, name: undefined } : address;
}

function timeOf(time: Date | string | undefined): string | undefined {
  return time instanceof Date ? time.toISOString() : time;
}

function attachmentOf({ content, ...attachment }: Attachment): Record<string, unknown> {
  return { ...attachment, content: typeof content === 'string' ? content : toBase64(content) };
}

export function given(members: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** Base64 with padding (RFC 4648 section 4). */
export function toBase64(bytes: Uint8Array): string {
  const native = (bytes as { toBase64?: () => string }).toBase64;
  if (native !== undefined) return native.call(bytes);
  let binary = '';
  // `apply` takes a limited number of arguments.
  for (let at = 0; at < bytes.length; at += 8_192)
    binary += String.fromCharCode(...bytes.subarray(at, at + 8_192));
  return btoa(binary);
}
