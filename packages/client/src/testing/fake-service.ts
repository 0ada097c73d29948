import type { KeyOptions } from '../signalpost.ts';
import { bodyProblems, type FakeBody, type FakeFields, missingPlaces } from './fake-rules.ts';

export interface FakeTemplate {
  /** All fields of the template. Default: none. */
  readonly fields?: FakeFields;
}

export interface FakeOptions {
  readonly templates: Readonly<Record<string, FakeTemplate>>;
  /** Addresses that get no email. */
  readonly suppressed?: readonly string[];
}

/** A message that the fake accepted. */
export interface FakeMessage {
  readonly messageId: string;
  readonly template: string;
  readonly to: string;
  readonly cc: readonly string[];
  readonly data: Readonly<Record<string, unknown>>;
  readonly idempotencyKey: string | undefined;
  /** The whole body of the send operation (contract 2.2). */
  readonly body: FakeBody;
}

export interface FakeSignalpost {
  /** For `new Signalpost(fake.options)`. */
  readonly options: KeyOptions;
  /** The accepted messages, in order. */
  readonly messages: readonly FakeMessage[];
  /** Fails the next request with this status, before any check. The client retries after a 429 or 503. */
  failNext(status: 401 | 429 | 500 | 503): void;
}

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The errors of contract 7. */
const faults = {
  INVALID_ID: [400, 'Invalid ID in request. accountId or templateId is invalid'],
  VALIDATION_FAILED: [400, 'Validation Failed for emailDetails object'],
  PERSONALIZATION_FAILURE: [
    400,
    'Personalization Failure Exception. personalization fields were missed',
  ],
  RECIPIENT_SUPPRESSED: [400, 'Recipient email has been suppressed'],
  UNAUTHORIZED: [401, 'Unauthorized Request'],
  IDEMPOTENCY_MISMATCH: [422, 'This Idempotency-Key was used with another request'],
  QUOTA_EXCEEDED: [429, 'Quota Exceeded'],
  INTERNAL_ERROR: [500, 'Internal Server Error'],
  IO_EXCEPTION: [503, 'IO Exception was encountered'],
} as const;

const forced = {
  401: 'UNAUTHORIZED',
  429: 'QUOTA_EXCEEDED',
  500: 'INTERNAL_ERROR',
  503: 'IO_EXCEPTION',
} as const;

function fault(
  errorName: keyof typeof faults,
  details: readonly object[] = [],
  extra = {},
): Answer {
  const [status, message] = faults[errorName];
  const requestId = crypto.randomUUID();
  return {
    status,
    body: { success: false, status, errorName, message, details, ...extra, requestId },
  };
}

/**
 * An in-memory Signalpost for unit tests. It supports `send`, `schedule`, `sendBatch`, `message` and `waitUntilDelivered`
 * with the rules of the contract: required fields, kinds of values, lengths, addresses, suppressions and idempotency keys.
 * Every message is delivered immediately. Senders aren't checked, and nothing is rendered.
 */
export function fakeSignalpost({ templates, suppressed = [] }: FakeOptions): FakeSignalpost {
  const messages: FakeMessage[] = [];
  const kept = new Map<string, { readonly request: string; readonly answer: Answer }>();
  const blocked = new Set(suppressed.map((address) => address.toLowerCase()));
  const failures: (keyof typeof forced)[] = [];

  /** The checks, in the order of the contract; a used key returns the first response again. */
  const accept = (template: string, body: FakeBody, key: string | undefined): Answer => {
    const request = JSON.stringify([template, body]);
    const earlier = key === undefined ? undefined : kept.get(key);
    if (earlier !== undefined)
      return earlier.request === request ? earlier.answer : fault('IDEMPOTENCY_MISMATCH');
    const fields = Object.hasOwn(templates, template)
      ? (templates[template]?.fields ?? {})
      : undefined;
    if (fields === undefined)
      return fault('INVALID_ID', [
        { field: 'templateId', reason: 'is not a published template of this account' },
      ]);
    const problems = bodyProblems(body, fields);
    if (problems.length > 0) return fault('VALIDATION_FAILED', problems);
    const data = body.content?.personalizationDataMap ?? {};
    const missing = missingPlaces(data, fields).map((place) => ({
      field: `content.personalizationDataMap.${place}`,
      reason: 'has no value, and the template gives no default',
    }));
    if (missing.length > 0) return fault('PERSONALIZATION_FAILURE', missing);
    const { toAddress: to, ccAddressList = [], bccAddressList = [] } = body.envelope;
    const others = [...ccAddressList, ...bccAddressList];
    const isBlocked = (address: string) => blocked.has(address.toLowerCase());
    const suppressedRecipients = others.filter(isBlocked);
    if (isBlocked(to))
      return fault(
        'RECIPIENT_SUPPRESSED',
        [{ field: 'envelope.toAddress', reason: 'is suppressed for this account' }],
        { suppressedRecipients: [to, ...suppressedRecipients] },
      );
    const messageId = crypto.randomUUID();
    const cc = ccAddressList.filter((address) => !isBlocked(address));
    messages.push({ messageId, template, to, cc, data, idempotencyKey: key, body });
    const response = {
      status: 200,
      body: {
        success: true,
        status: 200,
        message: 'Successfully Accepted',
        messageId,
        suppressedRecipients,
      },
    };
    if (key !== undefined) kept.set(key, { request, answer: response });
    return response;
  };

  const respond = (method: string, pathname: string, init: RequestInit): Answer => {
    const failure = failures.shift();
    if (failure !== undefined) return fault(forced[failure]);
    const [, send, status] =
      /^\/ete\/v1\/(?:email\/1000\/([^/]+(?:\/batch)?)|message\/1000\/([^/]+))$/.exec(pathname) ??
      [];
    if (method === 'GET' && status !== undefined)
      return statusOf(decodeURIComponent(status), messages);
    if (method !== 'POST' || send === undefined)
      throw new Error(`fakeSignalpost() does not answer ${method} ${pathname}`);
    const template = decodeURIComponent(send.replace(/\/batch$/, ''));
    const body = JSON.parse(String(init.body));
    if (!send.endsWith('/batch'))
      return accept(template, body, new Headers(init.headers).get('idempotency-key') ?? undefined);
    if (!Object.hasOwn(templates, template)) return accept(template, body, undefined);
    const results = (body as { messages: (FakeBody & { idempotencyKey?: string })[] }).messages.map(
      ({ idempotencyKey, ...message }) => accept(template, message, idempotencyKey).body,
    );
    return { status: 200, body: { results } };
  };
  return {
    options: {
      url: 'http://signalpost.test',
      key: `sp_1000_${'f'.repeat(43)}_${'f'.repeat(6)}`,
      fetch: async (input, init = {}) => {
        init.signal?.throwIfAborted();
        const { pathname } = new URL(String(input));
        const { status, body } = respond(init.method ?? 'GET', pathname, init);
        const headers = { 'content-type': 'application/json', 'retry-after': '0' };
        return new Response(JSON.stringify(body), { status, headers });
      },
    },
    messages,
    failNext: (status) => {
      failures.push(status);
    },
  };
}

function statusOf(messageId: string, messages: readonly FakeMessage[]): Answer {
  const found = messages.find((message) => message.messageId === messageId);
  if (found === undefined)
    return fault('INVALID_ID', [
      { field: 'messageId', reason: 'is not a message of this account' },
    ]);
  const at = new Date().toISOString();
  const { template, to, cc, body } = found;
  const recipients = [to, ...cc].map((address, index) => ({
    address,
    role: index === 0 ? 'to' : 'cc',
    state: 'delivered',
    at,
  }));
  return {
    status: 200,
    body: {
      success: true,
      messageId,
      templateId: template,
      templateVersion: 1,
      state: 'delivered',
      stateAt: at,
      acceptedAt: at,
      externalId: body.metadata?.externalId ?? null,
      tag: body.metadata?.tagList?.[0] ?? null,
      locale: body.content?.locale ?? null,
      attributes: body.metadata?.attributes ?? {},
      recipients,
      suppressedRecipients: [],
      nextAttempt: null,
      events: recipients.map((_, recipient) => ({ at, kind: 'delivered', recipient, detail: {} })),
    },
  };
}
