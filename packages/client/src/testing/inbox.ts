import { sleep } from '../connection.ts';

export interface InboxOptions {
  /** The address of a service with `DELIVERY=inbox`, the default on a developer's machine. */
  readonly url: string;
  /** `INBOX_TOKEN` of the service; the first start writes one to `demo.env`. */
  readonly token: string;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch;
}

/** A message in the inbox, as the recipient gets it. */
export interface ReceivedMail {
  readonly id: string;
  readonly receivedAt: string;
  readonly envelopeFrom: string;
  readonly envelopeTo: readonly string[];
  /** By lower-case name, decoded. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly subject: string;
  readonly html: string | null;
  readonly text: string | null;
  /** The whole message (RFC 5322). */
  readonly source: string;
  /** The addresses of the links in the HTML, or else in the text, in order. */
  readonly links: readonly string[];
}

export interface MailWait {
  /** Milliseconds. Default: 30,000. */
  readonly timeout?: number;
  /** Only messages with this subject, or one that matches. */
  readonly subject?: string | RegExp;
  /** Only messages received at or after this time. */
  readonly since?: Date;
  readonly signal?: AbortSignal;
}

export interface Inbox {
  /**
   * Waits for a message to an address. Use a different address for each test, so that it gets no other messages.
   * @returns the newest match
   * @throws Error at the timeout, with the subjects of the messages that arrived
   */
  waitFor(to: string, wait?: MailWait): Promise<ReceivedMail>;
  /** All messages to an address, newest first. */
  list(to: string): Promise<ReceivedMail[]>;
  /** Deletes the messages to an address, or all. */
  clear(to?: string): Promise<void>;
}

const defaultTimeoutMs = 30_000;
/** How long the service holds a request at most. */
const maxHeldSeconds = 30;
const pollMs = 100;

/** Reads the inbox of a service with `DELIVERY=inbox`. */
export function createInbox({ url, token, fetch: own }: InboxOptions): Inbox {
  const base = `${url.replace(/\/+$/, '')}/inbox/api/messages`;
  const ask = async (
    method: 'GET' | 'DELETE',
    query: Record<string, string>,
    signal?: AbortSignal,
  ): Promise<Response> => {
    const response = await (own ?? fetch)(`${base}?${new URLSearchParams(query)}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(signal === undefined ? {} : { signal }),
    });
    if (response.ok) return response;
    const hint =
      response.status === 404
        ? 'the service has no inbox; start it without SMTP_URL, or with DELIVERY=inbox'
        : response.status === 401
          ? 'token must be the INBOX_TOKEN of the service'
          : await response.text();
    throw new Error(`The inbox returned ${response.status}: ${hint}`);
  };
  const find = async (
    query: Record<string, string>,
    signal?: AbortSignal,
  ): Promise<ReceivedMail[]> => {
    const mails = (await (await ask('GET', query, signal)).json()) as Omit<ReceivedMail, 'links'>[];
    return mails.map((mail) => ({ ...mail, links: linksOf(mail) }));
  };
  return {
    list: (to) => find({ to }),
    async clear(to) {
      await ask('DELETE', to === undefined ? {} : { to });
    },
    async waitFor(to, { timeout = defaultTimeoutMs, subject, since, signal } = {}) {
      const ends = Date.now() + timeout;
      for (;;) {
        const seconds = Math.ceil((ends - Date.now()) / 1_000);
        const mails = await find(
          {
            to,
            wait: String(Math.max(0, Math.min(maxHeldSeconds, seconds))),
            ...(since === undefined ? {} : { since: since.toISOString() }),
          },
          signal,
        );
        const found = mails.find((mail) => fits(mail.subject, subject));
        if (found !== undefined) return found;
        if (Date.now() >= ends)
          throw new Error(
            `No message to ${to}${subject === undefined ? '' : ` with the subject ${subject}`} within ${timeout} ms. ${describe(mails)}`,
          );
        // Messages that don't match would end the wait immediately.
        await sleep(Math.min(pollMs, Math.max(0, ends - Date.now())), signal);
      }
    },
  };
}

function fits(subject: string, wanted: string | RegExp | undefined): boolean {
  if (wanted === undefined) return true;
  return typeof wanted === 'string' ? subject === wanted : wanted.test(subject);
}

function describe(mails: readonly ReceivedMail[]): string {
  if (mails.length === 0) return 'None came to this address.';
  return `It got: ${mails.map(({ subject }) => subject).join(', ')}`;
}

const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&quot;': '"',
  '&#39;': "'",
  '&lt;': '<',
  '&gt;': '>',
};

function linksOf({ html, text }: Pick<ReceivedMail, 'html' | 'text'>): string[] {
  if (html === null) return (text ?? '').match(/https?:\/\/[^\s<>"]+/g) ?? [];
  return [...html.matchAll(/<a\s[^>]*?href=(?:"([^"]*)"|'([^']*)')/gi)].map((match) =>
    (match[1] ?? match[2] ?? '').replace(
      /&(?:amp|quot|#39|lt|gt);/g,
      (name) => entities[name] ?? name,
    ),
  );
}
