import type { Accepted, BatchResults, Listing, MessageStatus } from './api.generated.ts';
import {
  type CallOptions,
  Connection,
  type ConnectionOptions,
  errorOf,
  sleep,
} from './connection.ts';
import { NotDeliveredError, type SignalpostFailure } from './errors.ts';
import { Events } from './events.ts';
import { bodyOf, type Message } from './message.ts';
import { OAuthCredential, type OAuthOptions } from './oauth.ts';
import { Suppressions } from './suppressions.ts';
import type { TemplateId } from './templates.ts';

/** Options of a client with an API key. */
export interface KeyOptions extends ConnectionOptions {
  /** An API key, `sp_…`. It belongs to one account. */
  readonly key: string;
}

/** Options of a client with an OAuth 2.0 grant. */
export interface TokenOptions extends ConnectionOptions {
  readonly oauth: OAuthOptions;
  /** The account that sends. */
  readonly account: string;
}

/** The result for an accepted message. */
export interface Sent {
  readonly messageId: string;
  /** Cc addresses that got nothing because they are suppressed. */
  readonly suppressedRecipients: readonly string[];
  /** Shows the progress of the message to the person who waits, if `statusToken` asks for it. */
  readonly statusUrl?: string;
}

/** The result of one message of a batch. */
export type BatchResult =
  | ({ readonly ok: true } & Sent)
  | { readonly ok: false; readonly error: SignalpostFailure };

export interface WaitOptions extends CallOptions {
  /** Max milliseconds until the message is final. Default: 60,000. */
  readonly within?: number;
}

const finalStates: readonly string[] = [
  'bounced',
  'expired',
  'failed',
  'uncertain',
  'suppressed',
  'canceled',
] satisfies readonly MessageStatus['state'][];
const maxBatchMessages = 1_000;
const minPollMs = 250;
const maxPollMs = 5_000;

/** The operations for API keys and access tokens. */
class Sender {
  /** The account that sends. */
  readonly account: string;
  readonly #connection: Connection;

  constructor(connection: Connection, account: string) {
    this.#connection = connection;
    this.account = account;
  }

  /**
   * Sends one email, once, however often the request is retried.
   * Resolves once the email is stored and can't be lost.
   * @throws SignalpostFailure: narrow it by `code`. After an UnavailableError, send again with its `idempotencyKey`.
   */
  async send<Id extends TemplateId>(
    template: Id,
    message: Message<Id>,
    options: CallOptions = {},
  ): Promise<Sent> {
    const idempotencyKey = message.idempotencyKey ?? crypto.randomUUID();
    const body = (await this.#connection.call(
      { method: 'POST', path: this.#pathOf(template), body: bodyOf(message), idempotencyKey },
      options,
    )) as Accepted;
    return sentOf(body);
  }

  /** Sends one email at a later time, up to 365 days ahead. */
  async schedule<Id extends TemplateId>(
    template: Id,
    sendAt: Date | string,
    message: Message<Id>,
    options: CallOptions = {},
  ): Promise<Sent> {
    return await this.send(template, { ...message, sendAt } as Message<Id>, options);
  }

  /**
   * Sends many emails from one template, up to a thousand per request. An error in one doesn't stop the others.
   * @returns a result for each message, in order
   * @throws SignalpostFailure if a whole request is rejected; messages of earlier requests were sent
   */
  async sendBatch<Id extends TemplateId>(
    template: Id,
    messages: readonly Message<Id>[],
    options: CallOptions = {},
  ): Promise<BatchResult[]> {
    const keyed = messages.map((message) => ({
      idempotencyKey: message.idempotencyKey ?? crypto.randomUUID(),
      ...bodyOf(message),
    }));
    const all: BatchResult[] = [];
    for (let from = 0; from < keyed.length; from += maxBatchMessages) {
      const part = keyed.slice(from, from + maxBatchMessages);
      const { results } = (await this.#connection.call(
        // Each message has a key.
        {
          method: 'POST',
          path: `${this.#pathOf(template)}/batch`,
          body: { messages: part },
          repeatable: true,
        },
        options,
      )) as BatchResults;
      for (const [index, result] of results.entries())
        all.push(
          result.success
            ? { ok: true, ...sentOf(result) }
            : {
                ok: false,
                error: errorOf(
                  { status: result.status, headers: new Headers(), body: result },
                  part[index]?.idempotencyKey,
                ) as SignalpostFailure,
              },
        );
    }
    return all;
  }

  /** The state of a message, with its recipients, events and next attempt. @throws InvalidIdError */
  async message(messageId: string, options: CallOptions = {}): Promise<MessageStatus> {
    const path = `/ete/v1/message/${encodeURIComponent(this.account)}/${encodeURIComponent(messageId)}`;
    return (await this.#connection.call({ method: 'GET', path }, options)) as MessageStatus;
  }

  /**
   * Waits until the recipient's server has accepted a message.
   * @throws NotDeliveredError if it ends in another state, or not in time
   */
  async waitUntilDelivered(
    messageId: string,
    { within = 60_000, ...options }: WaitOptions = {},
  ): Promise<MessageStatus> {
    const ends = Date.now() + within;
    for (let pollMs = minPollMs; ; pollMs = Math.min(maxPollMs, pollMs * 1.5)) {
      const status = await this.message(messageId, options);
      if (status.state === 'delivered') return status;
      if (finalStates.includes(status.state) || Date.now() + pollMs > ends)
        throw new NotDeliveredError(messageId, status.state);
      await sleep(pollMs, options.signal);
    }
  }

  /** The contact lists of the account. @param query `count`: at most 1,000, default 100; `offset`: lists to skip */
  async lists(
    query: { readonly count?: number; readonly offset?: number } = {},
    options: CallOptions = {},
  ): Promise<Listing> {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) parameters.set(name, String(value));
    return (await this.#connection.call(
      {
        method: 'GET',
        path: `/api/1/list?${parameters}`,
        headers: { 'x-account-id': this.account },
      },
      options,
    )) as Listing;
  }

  #pathOf(template: string): string {
    return `/ete/v1/email/${encodeURIComponent(this.account)}/${encodeURIComponent(template)}`;
  }
}

/** The operations for API keys only. */
class KeyClient extends Sender {
  /** Addresses that get no email. Needs the scopes `suppressions:read` and `suppressions:write`. */
  readonly suppressions: Suppressions;
  /** The events of the account's messages. Needs the scope `messages:read`. */
  readonly events: Events;
  readonly #connection: Connection;

  constructor(connection: Connection, account: string) {
    super(connection, account);
    this.#connection = connection;
    this.suppressions = new Suppressions(connection, account);
    this.events = new Events(connection, account);
  }

  /**
   * Cancels a message that isn't delivered yet, scheduled or not. Needs the scope `messages:control`.
   * @returns false if it is final, or is being sent right now
   */
  async cancel(messageId: string, options: CallOptions = {}): Promise<boolean> {
    const path = `/manage/v1/accounts/${this.account}/messages/${encodeURIComponent(messageId)}/cancel`;
    const result = await this.#connection.call({ method: 'POST', path, repeatable: true }, options);
    return (result as { readonly changed: number }).changed > 0;
  }
}

/** A client of an account. @throws TypeError if an option is missing or malformed */
export interface SignalpostConstructor {
  new (options: KeyOptions): Signalpost;
  new (options: TokenOptions): SignalpostWithToken;
}

function createClient(options: KeyOptions | TokenOptions): Sender {
  if (!/^https?:\/\//.test(options.url))
    throw new TypeError('url must be the address of the service, such as https://mail.example.com');
  if ('oauth' in options) {
    const credential = new OAuthCredential(options.url, options.fetch, options.oauth);
    return new Sender(new Connection(options, credential), options.account);
  }
  const { key } = options;
  const account = /^sp_([A-Za-z0-9_-]{1,64})_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/.exec(key)?.[1];
  if (account === undefined) throw new TypeError('key must be an API key, which begins with sp_');
  const credential = { renewable: false, token: async () => key };
  return new KeyClient(new Connection(options, credential), account);
}

/** `new Signalpost({ url, key })`, or with `{ url, oauth, account }` */
export const Signalpost = /* @__PURE__ */ (() =>
  function Signalpost(options: KeyOptions | TokenOptions) {
    return createClient(options);
  })() as unknown as SignalpostConstructor;

// Interfaces, because a program that exports a client needs names for its type.
/** A client with an API key. */
export interface Signalpost extends KeyClient {}
/** A client with an OAuth 2.0 grant. */
export interface SignalpostWithToken extends Sender {}

function sentOf({ messageId, suppressedRecipients, statusUrl }: Accepted): Sent {
  return { messageId, suppressedRecipients, ...(statusUrl !== undefined && { statusUrl }) };
}
