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
import { limitDetails } from '../../sending/submission/describe-body-problems.ts';
import { findInvalidText } from '../../sending/submission/find-invalid-text.ts';
import { unusableBody } from '../../sending/submission/read-body-json.ts';
import { encodedBody, isPlain } from '../../sending/submission/send-email-routes.ts';
import { withTimeout } from '../../sending/submission/with-timeout.ts';
import {
  type DropIn,
  type DropInAnswer,
  type DropInCall,
  type DropInError,
  DropInRefusal,
  type DropInRequest,
  type DropInServices,
  type DropInSigner,
} from './drop-in.ts';
import { unknownMember } from './members.ts';

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
      respond(dropIn, call, exchange, () => answerCall(dropIn, call, services, exchange)),
    );
  http.direct.on(allMethods, `${prefix}/*`, 'public', (exchange) =>
    respond(dropIn, undefined, exchange, () => {
      const { method, url = '' } = exchange.request;
      const path = url.slice(prefix.length).split('?', 1)[0];
      throw new DropInRefusal(
        'UNSUPPORTED_CALL',
        `${method} ${path} isn’t supported by Signalpost.`,
      );
    }),
  );
}

async function respond(
  dropIn: DropIn,
  call: DropInCall | undefined,
  exchange: Exchange,
  answer: () => Promise<DropInAnswer>,
): Promise<void> {
  try {
    write(exchange, await answer());
  } catch (error) {
    const described = describeError(error, call?.names ?? {});
    if (!(error instanceof DropInRefusal)) logFault(toOwnFault(error), exchange);
    const { url: target = '' } = exchange.request;
    const answered = dropIn.describeError(described, { target, requestId: exchange.id });
    const wait = retryAfterOf(error, answered.status);
    const more = wait === undefined ? [] : ['retry-after', String(Math.ceil(wait))];
    write(exchange, { ...answered, headers: [...(answered.headers ?? []), ...more] });
  }
}

function write(exchange: Exchange, { status, body, contentType, headers }: DropInAnswer): void {
  const text =
    contentType === undefined && body !== undefined ? JSON.stringify(body) : String(body ?? '');
  exchange.answer(status, text, headers, contentType);
}

async function answerCall(
  { keyOf, signerOf }: DropIn,
  call: DropInCall,
  services: DropInServices,
  exchange: Exchange,
): Promise<DropInAnswer> {
  const { request } = exchange;
  const { headers, url = '' } = request;
  const remoteAddress = exchange.remoteAddress;
  const signer = await signerOf?.(services, request);
  const admission = await admit(services, call, signer ?? keyOf(headers), remoteAddress);
  const body = await readBody(services, call, exchange, admission);
  await signer?.checkBody(body);
  const answer = (given: DropInRequest): Promise<DropInAnswer> =>
    // Sends have limits of their own.
    call.permission === 'messages:send'
      ? call.answer(given)
      : otherCalls.run(admission.account.id, () => call.answer(given));
  const target = escapeMalformedPercent(url);
  const [path = '', queryText] = target.split('?', 2);
  const query = new URLSearchParams(queryText);
  const unknown = [...query.keys()].filter((name) => call.query?.includes(name) === false);
  if (unknown.length > 0)
    throw new Fault('VALIDATION_FAILED', {
      details: limitDetails(unknown.map((field) => ({ field, reason: unknownMember }))),
    });
  const params = readParams(call.path, path);
  // Such as a NUL, which no query of the database can take.
  const unstorable = findInvalidText({ ...params, ...Object.fromEntries(query) });
  if (unstorable.length > 0) throw new Fault('VALIDATION_FAILED', { details: unstorable });
  return answer({
    services,
    admission,
    params,
    query,
    headers,
    body,
    origin: { remoteAddress, requestId: exchange.id },
    span: exchange.span,
  });
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
  const checked = isKey
    ? access
    : { ...access, authenticator: { authenticate: () => who.principal } };
  return withTimeout(admitCaller(checked, { permission }, head));
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
  const params: Record<string, string> = {};
  names.forEach((name, index) => {
    if (name.startsWith(':')) params[name.slice(1)] = decodeURIComponent(parts[index] ?? '');
  });
  return params;
}

/** An error for a provider's form, in the words of its API. @param names of members by those of the send body */
export function describeError(
  error: unknown,
  names: Readonly<Record<string, string>>,
): DropInError {
  if (error instanceof DropInRefusal)
    return { kind: error.kind, status: statuses[error.kind], message: error.message, details: [] };
  const fault = toOwnFault(error);
  const details = fault.details.map(({ field, reason }) => ({
    field: rename(field, names),
    reason,
  }));
  const isUnpermitted = fault.challenge === 'insufficient_scope';
  const { status, message } = errorCatalog[fault.code];
  return {
    kind: isUnpermitted ? 'MISSING_PERMISSION' : fault.code,
    status,
    message: details.length > 0 ? toSentences(details) : (sentences[fault.code] ?? `${message}.`),
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
export function rename(field: string, names: Readonly<Record<string, string>>): string {
  const found = Object.keys(names)
    .filter((name) => field === name || /^[.[]/.test(field.slice(name.length)))
    .filter((name) => field.startsWith(name))
    .sort((a, b) => b.length - a.length)[0];
  return found === undefined ? field : `${names[found]}${field.slice(found.length)}`;
}

function toSentences(details: readonly FaultDetail[]): string {
  const parts = details.map(({ field, reason }) => (field === '' ? reason : `${field} ${reason}`));
  const text = parts.join('; ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function retryAfterOf(error: unknown, status: number): number | undefined {
  if (error instanceof Busy || error instanceof Fault)
    return error.retryAfter ?? (status === 503 ? 1 : undefined);
  return status === 503 ? 1 : undefined;
}
