import { accountTextOf } from '../../accounts/access/api-key.ts';
import { Limiter } from '../../base/fairness/limiter.ts';
import { policies } from '../../base/fairness/policies.ts';
import { Busy, Fault, type FaultDetail } from '../../base/values/errors.ts';
import { logFault, toFault } from '../../host/http/answer-fault.ts';
import type { Http } from '../../host/http/create-http.ts';
import { errorCatalog } from '../../host/http/error-catalog.ts';
import type { Exchange } from '../../host/http/exchange.ts';
import type { RouteLimit } from '../../host/http/limits/route-limits.ts';
import { escapeMalformedPercent } from '../../host/http/request-path.ts';
import { admitCaller, type SendAdmission } from '../../sending/submission/admit-caller.ts';
import { attachmentLimitOf } from '../../sending/submission/check-attachments.ts';
import { findInvalidText } from '../../sending/submission/find-invalid-text.ts';
import { unusableBody } from '../../sending/submission/read-body-json.ts';
import { encodedBody, isPlain } from '../../sending/submission/send-email-routes.ts';
import { withTimeout } from '../../sending/submission/with-timeout.ts';
import type { DropIn, DropInAnswer, DropInCall, DropInError, DropInSigner } from './drop-in.ts';
import { DropInRefusal, type DropInServices, type RequestFacts } from './drop-in-request.ts';
import { invalidMembers, unknownMember } from './members.ts';
import { Sending } from './sending.ts';
import { SentMessages } from './sent-messages.ts';
import { SuppressedAddresses } from './suppressed-addresses.ts';

/** Calls that read or change what the account has sent. */
const otherCalls = new Limiter(policies.providerCalls);

const allMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const bodySeconds = 30;

/** The limits of a provider's calls, and of everything else below its prefix. */
export function limitsOf({ name, calls }: DropIn): RouteLimit[] {
  const lines = calls.map(
    ({ method, path, bodyBytes = 0, withAttachments }): RouteLimit => ({
      methods: [method],
      path: `/${name}${path}`,
      caller: 'an API key',
      known: true,
      bodyBytes,
      bodySeconds: bodyBytes === 0 ? 0 : bodySeconds,
      ...(withAttachments && { extraBytes: 'plus the account’s attachment limit' }),
    }),
  );
  const others = { caller: 'anyone', known: false, bodyBytes: 0, bodySeconds: 0 };
  return [...lines, { methods: allMethods, path: `/${name}/*`, ...others }];
}

/** Registers a provider's calls. Whatever else its SDKs ask for is refused in its form of errors, by name. */
export function registerDropIn(http: Http, dropIn: DropIn, services: DropInServices): void {
  const prefix = `/${dropIn.name}`;
  for (const call of dropIn.calls)
    http.direct.on([call.method], prefix + call.path, call.permission, (exchange) =>
      respond(dropIn, exchange, () => answerCall(dropIn, call, services, exchange), call.names),
    );
  http.direct.on(allMethods, `${prefix}/*`, 'public', (exchange) =>
    respond(dropIn, exchange, () => {
      const { method, url = '' } = exchange.request;
      const asked = `${method} ${url.slice(prefix.length).split('?', 1)[0]}`;
      throw new DropInRefusal('UNSUPPORTED_CALL', `${asked} isn’t supported by Signalpost.`);
    }),
  );
}

async function respond(
  dropIn: DropIn,
  exchange: Exchange,
  answer: () => Promise<DropInAnswer>,
  names?: DropInCall['names'],
): Promise<void> {
  try {
    write(exchange, await answer());
  } catch (error) {
    const fault = error instanceof DropInRefusal ? undefined : toOwnFault(error);
    if (fault !== undefined) logFault(fault, exchange);
    const origin = { target: exchange.request.url ?? '', requestId: exchange.id };
    const answered = dropIn.describeError(describeError(error, names), origin);
    const wait = fault?.retryAfter ?? (answered.status === 503 ? 1 : undefined);
    const more = wait === undefined ? [] : ['retry-after', String(Math.ceil(wait))];
    write(exchange, { ...answered, headers: [...(answered.headers ?? []), ...more] });
  }
}

function write(exchange: Exchange, { status, body, contentType, headers }: DropInAnswer): void {
  const isJson = contentType === undefined && body !== undefined;
  exchange.answer(status, isJson ? JSON.stringify(body) : String(body ?? ''), headers, contentType);
}

async function answerCall(
  { keyOf, signerOf }: DropIn,
  call: DropInCall,
  services: DropInServices,
  exchange: Exchange,
): Promise<DropInAnswer> {
  const { request, remoteAddress, span } = exchange;
  const { headers, url = '' } = request;
  const signer = await signerOf?.(services, request);
  const admission = await admit(services, call, signer ?? keyOf(headers), remoteAddress);
  const body = await readBody(services, call, exchange, admission);
  await signer?.checkBody(body);
  const [path = '', queryText] = escapeMalformedPercent(url).split('?', 2);
  const query = new URLSearchParams(queryText);
  const unknown = [...query.keys()].filter((name) => call.query?.includes(name) === false);
  if (unknown.length > 0)
    throw invalidMembers(unknown.map((field) => ({ field, reason: unknownMember })));
  const params = readParams(call.path, path);
  // Such as a NUL, which no query of the database can take.
  const unstorable = findInvalidText({ ...params, ...Object.fromEntries(query) });
  if (unstorable.length > 0) throw invalidMembers(unstorable);
  const accountId = admission.account.id;
  const facts: RequestFacts = {
    services,
    admission,
    accountId,
    kysely: services.database.kysely,
    now: services.clock.now(),
    params,
    query,
    headers,
    body,
    origin: { remoteAddress, requestId: exchange.id },
    span,
  };
  const sending = new Sending(facts);
  const sent = new SentMessages(facts);
  const answer = () =>
    call.answer({ ...facts, sending, sent, suppressed: new SuppressedAddresses(facts) });
  // Sends have limits of their own.
  return call.permission === 'messages:send' ? answer() : otherCalls.run(accountId, answer);
}

/**
 * The first three checks of the send operation, for the account of the key or of who signed.
 * @throws DropInRefusal or Fault UNAUTHORIZED or ACCOUNT_SUSPENDED
 */
async function admit(
  { access }: DropInServices,
  { permission }: DropInCall,
  who: DropInSigner | string | undefined,
  remoteAddress: string,
): Promise<SendAdmission> {
  if (who === undefined || who === '')
    throw new DropInRefusal('MISSING_KEY', 'The request has no API key.');
  const isKey = typeof who === 'string';
  const accountText = isKey ? accountTextOf(who) : who.principal.reach.accountId;
  // An access token names no account, and these APIs have no other place for one.
  if (accountText === '') throw new Fault('UNAUTHORIZED');
  const authorization = isKey ? `Bearer ${who}` : undefined;
  const head = { authorization, accountText, remoteAddress: () => remoteAddress };
  const signed = isKey ? {} : { authenticator: { authenticate: () => who.principal } };
  return withTimeout(admitCaller({ ...access, ...signed }, { permission }, head));
}

async function readBody(
  { attachmentSettings }: DropInServices,
  { method, bodyBytes = 0, withAttachments }: DropInCall,
  exchange: Exchange,
  { account }: SendAdmission,
): Promise<Buffer> {
  if (method === 'GET') return Buffer.alloc(0);
  const limit = withAttachments ? attachmentLimitOf(account, attachmentSettings) : 0;
  const body = await exchange.readBody(account.id, limit === 0 ? undefined : bodyBytes + limit);
  if ('unusable' in body) throw unusableBody(body.unusable);
  if (!isPlain(exchange.request.headers['content-encoding']))
    throw unusableBody(encodedBody.unusable);
  return body;
}

/** The values of a pattern's parameters in a path that ends with what it matches. */
function readParams(pattern: string, path: string): Record<string, string> {
  const names = pattern.split('/');
  const parts = path.replace(/\/$/, '').split('/').slice(-names.length);
  const pairs = names.map((name, index) => [name.slice(1), parts[index] ?? ''] as const);
  const given = pairs.filter((_, index) => names[index]?.startsWith(':'));
  return Object.fromEntries(given.map(([name, part]) => [name, decodeURIComponent(part)]));
}

/** An error for a provider's form, in the words of its API. @param names of members by those of the send body */
export function describeError(
  error: unknown,
  names: Readonly<Record<string, string>> = {},
): DropInError {
  if (error instanceof DropInRefusal)
    return { kind: error.kind, status: statuses[error.kind], message: error.message, details: [] };
  const { code, details: own, challenge } = toOwnFault(error);
  const details = own.map(({ field, reason }) => ({ field: rename(field, names), reason }));
  const { status, message } = errorCatalog[code];
  return {
    kind: challenge === 'insufficient_scope' ? 'MISSING_PERMISSION' : code,
    status,
    message: details.length > 0 ? toSentence(...details) : (sentences[code] ?? `${message}.`),
    details,
  };
}

const statuses = {
  MISSING_KEY: 401,
  UNSUPPORTED_CALL: 404,
  NOT_FOUND: 404,
  CONFLICT: 409,
} as const;

const sentences: Partial<Readonly<Record<Fault['code'], string>>> = {
  UNAUTHORIZED: 'The API key isn’t valid here, or lacks the permission for this call.',
  ACCOUNT_SUSPENDED: 'The account is suspended.',
  QUOTA_EXCEEDED: 'The account has reached its quota.',
  IO_EXCEPTION: 'The service is over capacity; retry the request.',
  IDEMPOTENCY_MISMATCH: 'The idempotency key was used with another request.',
  IDEMPOTENCY_IN_PROGRESS: 'A request with this idempotency key is still in progress.',
};

function toOwnFault(error: unknown): Fault {
  // The key's account is the only one that it can be about.
  const isForeign = error instanceof Fault && error.details[0]?.field === 'accountId';
  if (isForeign) return new Fault('UNAUTHORIZED');
  return error instanceof Busy
    ? new Fault('IO_EXCEPTION', { cause: error, retryAfter: error.retryAfter })
    : toFault(error);
}

/** `envelope.ccAddressList[1]` is `cc[1]` if `envelope.ccAddressList` is `cc`. */
function rename(field: string, names: Readonly<Record<string, string>>): string {
  const found = Object.keys(names)
    .filter((name) => field === name || /^[.[]/.test(field.slice(name.length)))
    .filter((name) => field.startsWith(name))
    .sort((a, b) => b.length - a.length)[0];
  return found === undefined ? field : `${names[found]}${field.slice(found.length)}`;
}

/** What is wrong, as the sentence of an error. */
export function toSentence(...details: readonly FaultDetail[]): string {
  const parts = details.map(({ field, reason }) => (field === '' ? reason : `${field} ${reason}`));
  const text = parts.join('; ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
