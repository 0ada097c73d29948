import { InvalidIdError, ValidationError } from './errors.ts';
import type { Attachment, Message, Value } from './message.ts';
import {
  type KeyOptions,
  Signalpost,
  type SignalpostWithToken,
  type TokenOptions,
} from './signalpost.ts';

/** How to send mail without a template. */
export interface MailTemplate {
  /**
   * A template whose HTML is `{{{HTML}}}` and whose text is `{{Text}}`. Its values come from the mail's `html` and `text`; the
   * one that a mail hasn't is empty, and so isn't sent.
   */
  readonly id: string;
  /** The field that gets the HTML. Default: `HTML`. */
  readonly html?: string;
  /** The field that gets the text. Default: `Text`. */
  readonly text?: string;
}

export type NodemailerOptions = (KeyOptions | TokenOptions) & {
  /** For mail without a template; if unset, each mail must name one. */
  readonly template?: string | MailTemplate;
};

/** Nodemailer's result for a sent mail. */
export interface NodemailerResult {
  /** Signalpost's message ID, for `message(id)`. */
  readonly messageId: string;
  readonly envelope: { readonly from: string | false; readonly to: string[] };
  readonly accepted: string[];
  /** Cc and Bcc addresses that get nothing because they are suppressed. */
  readonly rejected: string[];
  readonly pending: string[];
  readonly response: string;
}

interface NormalAddress {
  readonly address: string;
  readonly name?: string;
}

/** A mail after Nodemailer has read its files and addresses. */
interface NormalMail {
  readonly from?: NormalAddress;
  readonly replyTo?: readonly NormalAddress[];
  readonly to?: readonly NormalAddress[];
  readonly cc?: readonly NormalAddress[];
  readonly bcc?: readonly NormalAddress[];
  readonly subject?: string;
  readonly html?: string;
  readonly text?: string;
  readonly inReplyTo?: string;
  readonly references?: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly attachments?: readonly {
    readonly filename?: string | false;
    readonly contentType?: string;
    readonly content?: string;
    readonly encoding?: string;
    readonly cid?: string;
  }[];
  /** Fields that Nodemailer doesn't know. */
  readonly template?: string;
  readonly data?: Readonly<Record<string, Value>>;
  readonly idempotencyKey?: string;
  readonly transactional?: boolean;
  readonly tag?: string;
  readonly externalId?: string;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly locale?: string;
}

interface NodemailerMail {
  readonly data: object;
  normalize(callback: (error: Error | null, mail?: unknown) => void): void;
}

/** A transport for `nodemailer.createTransport`. */
export interface NodemailerTransport {
  readonly name: string;
  readonly version: string;
  send(
    mail: NodemailerMail,
    callback: (error: Error | null, result: NodemailerResult) => void,
  ): void;
  /**
   * Checks the address, the credential and the template without sending. Without a callback, it returns a promise.
   * @throws SignalpostFailure
   */
  verify(): Promise<true>;
  verify(callback: (error: Error | null, success?: true) => void): void;
  /** True: a mail can be handed over at any time. */
  isIdle(): boolean;
  /** Does nothing: no connection is kept. */
  close(): void;
}

/** Options that Signalpost doesn't support; ignoring them would change the mail. */
const unsupported = [
  'raw',
  'amp',
  'icalEvent',
  'alternatives',
  'list',
  'envelope',
  'messageId',
  'sender',
];

/**
 * A transport for Nodemailer: each mail is one message, sent with retries and without duplicates. A mail can name a
 * `template` with `data`, and take `idempotencyKey`, `transactional`, `tag`, `externalId`, `attributes` and `locale`.
 */
export function signalpostTransport(options: NodemailerOptions): NodemailerTransport {
  const client: SignalpostWithToken =
    'oauth' in options ? new Signalpost(options) : new Signalpost(options);
  const common = typeof options.template === 'string' ? { id: options.template } : options.template;
  function verify(): Promise<true>;
  function verify(callback: (error: Error | null, success?: true) => void): void;
  function verify(
    callback?: (error: Error | null, success?: true) => void,
  ): Promise<true> | undefined {
    const checked = check(client, common);
    if (callback === undefined) return checked;
    checked.then(() => callback(null, true), callback);
    return undefined;
  }
  return {
    name: 'Signalpost',
    version: '1',
    send(mail, callback) {
      deliver(client, common, mail).then(
        (result) => callback(null, result),
        // Nodemailer ignores the result of a failure.
        (error: Error) => callback(error, undefined as never),
      );
    },
    verify,
    isIdle: () => true,
    close() {},
  };
}

/**
 * Sends a mail without a recipient. The service checks the credential, then the template, then the mail, so the mail's
 * invalidity means that the others are right.
 */
async function check(client: SignalpostWithToken, common: MailTemplate | undefined): Promise<true> {
  try {
    await client.send(common?.id ?? 'none', { to: '' } as Message);
  } catch (error) {
    const passed =
      error instanceof ValidationError || (common === undefined && error instanceof InvalidIdError);
    if (!passed) throw error;
  }
  return true;
}

async function deliver(
  client: SignalpostWithToken,
  common: MailTemplate | undefined,
  mail: NodemailerMail,
): Promise<NodemailerResult> {
  const given = Object.entries(mail.data).filter(([, value]) => value !== undefined);
  const refused = given.map(([name]) => name).filter((name) => unsupported.includes(name));
  if (refused.length > 0)
    throw new TypeError(`Signalpost can't send a mail with ${refused.join(', ')}`);
  const normal = await normalize(mail);
  const [to, ...others] = normal.to ?? [];
  if (to === undefined || others.length > 0)
    throw new TypeError('to must be one address; send a mail to each recipient');
  const { template, message } = messageOf(normal, to, common);
  const { messageId, suppressedRecipients } = await client.send(template, message);
  const all = [to, ...(normal.cc ?? []), ...(normal.bcc ?? [])].map(({ address }) => address);
  return {
    messageId,
    envelope: { from: normal.from?.address ?? false, to: all },
    accepted: all.filter((address) => !suppressedRecipients.includes(address)),
    rejected: [...suppressedRecipients],
    pending: [],
    response: 'Successfully Accepted',
  };
}

function normalize(mail: NodemailerMail): Promise<NormalMail> {
  return new Promise((resolve, reject) => {
    mail.normalize((error, normal) =>
      error === null ? resolve(normal as NormalMail) : reject(error),
    );
  });
}

function messageOf(
  mail: NormalMail,
  to: NormalAddress,
  common: MailTemplate | undefined,
): { readonly template: string; readonly message: Message } {
  const template = mail.template ?? common?.id;
  if (template === undefined)
    throw new TypeError('template is required: in the mail, or in signalpostTransport');
  const headers = headersOf(mail);
  const [replyTo, ...more] = mail.replyTo ?? [];
  if (more.length > 0) throw new TypeError('replyTo must be one address');
  return {
    template,
    message: {
      to: addressOf(to),
      ...(mail.from === undefined ? {} : { from: addressOf(mail.from) }),
      ...(replyTo === undefined ? {} : { replyTo: replyTo.address }),
      ...(mail.cc === undefined ? {} : { cc: mail.cc.map(({ address }) => address) }),
      ...(mail.bcc === undefined ? {} : { bcc: mail.bcc.map(({ address }) => address) }),
      ...(mail.subject === undefined ? {} : { subject: mail.subject }),
      ...(mail.attachments === undefined
        ? {}
        : { attachments: mail.attachments.map(attachmentOf) }),
      ...(Object.keys(headers).length === 0 ? {} : { headers }),
      ...chosen(mail),
      data: mail.template === undefined ? bodyValues(mail, common) : dataOf(mail),
    } as Message,
  };
}

/** The values of the template for mail without one. */
function bodyValues(
  { html, text, data }: NormalMail,
  common: MailTemplate | undefined,
): Record<string, Value> {
  return {
    ...data,
    [common?.html ?? 'HTML']: html ?? '',
    [common?.text ?? 'Text']: text ?? '',
  };
}

function dataOf({ html, text, data = {} }: NormalMail): Readonly<Record<string, Value>> {
  if (html !== undefined || text !== undefined)
    throw new TypeError('a mail with a template takes its html and text from it; leave them out');
  return data;
}

function chosen(mail: NormalMail): Record<string, unknown> {
  const names = [
    'idempotencyKey',
    'transactional',
    'tag',
    'externalId',
    'attributes',
    'locale',
  ] as const;
  return Object.fromEntries(
    names.filter((name) => mail[name] !== undefined).map((name) => [name, mail[name]]),
  );
}

function headersOf({ headers = {}, inReplyTo, references }: NormalMail): Record<string, string> {
  const own = Object.entries(headers).map(([name, value]) => {
    if (typeof value === 'string') return [name, value] as const;
    throw new TypeError(`the header ${name} must be one text`);
  });
  return {
    ...Object.fromEntries(own),
    ...(inReplyTo === undefined ? {} : { 'In-Reply-To': inReplyTo }),
    ...(references === undefined ? {} : { References: references }),
  };
}

function addressOf({ address, name }: NormalAddress): Message['to'] {
  return name === undefined || name === '' ? address : { address, name };
}

/** Of text that is an attachment; Nodemailer gives bytes as base64. */
const encodings = ['base64', 'utf8', 'utf-8'];

function attachmentOf(
  attachment: NonNullable<NormalMail['attachments']>[number],
  index: number,
): Attachment {
  const { filename, contentType, content = '', encoding, cid } = attachment;
  if (typeof content !== 'string' || (encoding !== undefined && !encodings.includes(encoding)))
    throw new TypeError(`attachments[${index}] must have content, or a path that can be read`);
  return {
    filename: filename || `attachment-${index + 1}`,
    contentType: contentType ?? 'application/octet-stream',
    content: encoding === 'base64' ? content : new TextEncoder().encode(content),
    ...(cid === undefined ? {} : { contentId: cid }),
  };
}
