import assert from 'node:assert/strict';
import { sendRequest, type TextResponse } from './send-request.ts';

/** A body of the send operation that passes all checks of a shop's `t-0001`. */
export function goodBody(): Record<string, Record<string, unknown>> {
  return {
    envelope: { toAddress: 'reader@example.test' },
    content: { personalizationDataMap: { 'Order Number': 'A-1001' } },
    actions: { trackOpens: true, trackClicks: true },
  };
}

/** The good body with some members of its groups replaced; an undefined member is omitted. */
export function bodyWith(
  changes: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
): Record<string, unknown> {
  const body = goodBody();
  for (const [group, members] of Object.entries(changes)) {
    body[group] = { ...body[group], ...members };
  }
  return body;
}

export interface SendOptions {
  readonly token?: string | undefined;
  readonly account?: string;
  readonly template?: string;
  /** An object is sent as JSON; text and bytes as they are. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends to one shop with one token. */
export class SendClient {
  readonly #url: string;
  readonly #token: string;
  readonly #account: string;

  constructor(service: { readonly url: string }, token: string, account = '46100') {
    this.#url = service.url;
    this.#token = token;
    this.#account = account;
  }

  send(options: SendOptions = {}): Promise<TextResponse> {
    const { account = this.#account, template = 't-0001', body = goodBody() } = options;
    const token = 'token' in options ? options.token : this.#token;
    return sendRequest(`${this.#url}/ete/v1/email/${account}/${template}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...options.headers,
      },
      body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
    });
  }

  /** Sends a message, which must be accepted. @returns its ID */
  async accept(options?: SendOptions): Promise<string> {
    const { status, body, text } = await this.send(options);
    assert.equal(status, 200, text);
    return String(body.messageId);
  }

  status(
    messageId: unknown,
    account = this.#account,
    token: string | undefined = this.#token,
  ): Promise<TextResponse> {
    return sendRequest(`${this.#url}/ete/v1/message/${account}/${messageId}`, {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    });
  }
}
