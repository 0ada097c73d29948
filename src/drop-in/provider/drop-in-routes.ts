import { accountTextOf } from '../../accounts/access/api-key.ts';
import type { RequestSigner } from '../../accounts/access/aws-signature.ts';
import { clientIdOf } from '../../accounts/access/principal.ts';
import { Limiter } from '../../base/fairness/limiter.ts';
import { policies } from '../../base/fairness/policies.ts';
import { Fault } from '../../base/values/errors.ts';
import { logFault } from '../../host/http/answer-fault.ts';
import type { Http } from '../../host/http/create-http.ts';
import type { Exchange } from '../../host/http/exchange.ts';
import type { RouteLimit } from '../../host/http/limits/route-limits.ts';
import type { RequestFailure } from '../../host/http/request-log.ts';
import { escapeMalformedPercent } from '../../host/http/request-path.ts';
import { admitCaller, type SendAdmission } from '../../sending/submission/admit-caller.ts';
import { attachmentLimitOf } from '../../sending/submission/check-attachments.ts';
import { hashInPieces } from '../../sending/submission/decode-base64.ts';
import { findInvalidText } from '../../sending/submission/find-invalid-text.ts';
import { unusableBody } from '../../sending/submission/read-body-json.ts';
import { encodedBody, isPlain } from '../../sending/submission/send-email-routes.ts';
import { withTimeout } from '../../sending/submission/with-timeout.ts';
import type { DropIn, DropInAnswer, DropInCall, DropInRequest, DropInServices } from './drop-in.ts';
import type { DropInError } from './drop-in-errors.ts';
import { DropInRefusal, describeError, toOwnFault } from './drop-in-errors.ts';
import { unknownMember } from './members.ts';
import { invalidMembers } from './place.ts';

/** Calls that read or change what the account has sent. */
const otherCalls = new Limiter(policies.providerCalls);

const allMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const bodySeconds = 30;

/** The limits of a provider's calls, and of everything else below its prefix. */
export function limitsOf({ name, calls }: DropIn): RouteLimit[] {
  const lines = calls.map(
    ({ method, path, bodyBytes, withAttachments }): RouteLimit => ({
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
  const key = dropIn.keyOf(exchange.request.headers);
  exchange.credential = { authorization: key && `Bearer ${key}` };
  try {
    write(exchange, await answer());
  } catch (error) {
    const fault = error instanceof DropInRefusal ? undefined : toOwnFault(error);
    if (fault !== undefined) logFault(fault, exchange);
    const described = describeError(error, names);
    if (described.kind !== 'MISSING_KEY' && described.kind !== 'UNAUTHORIZED')
      exchange.failure = toFailure(described);
    const answered = dropIn.describeError(described, exchange);
    const wait = fault?.retryAfter ?? (answered.status === 503 ? 1 : undefined);
    const more = wait === undefined ? [] : ['retry-after', String(Math.ceil(wait))];
    write(exchange, { ...answered, headers: [...(answered.headers ?? []), ...more] });
  }
}

function toFailure({ kind, message, details }: DropInError): RequestFailure {
  // Its message has the path, which can have an address.
  const reason = kind === 'UNSUPPORTED_CALL' ? 'isn’t supported by Signalpost' : message;
  return { error: kind, details: details.length > 0 ? details : [{ field: '', reason }] };
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
  const { method, bodyBytes, withAttachments } = call;
  const signer = await signerOf?.(services, request);
  if (signer !== undefined)
    exchange.credential = {
      accountId: signer.principal.reach.accountId,
      clientId: clientIdOf(signer.principal),
    };
  const admission = await admit(services, call, signer ?? keyOf(headers), remoteAddress);
  const { account } = admission;
  const accountId = account.id;
  const limit = withAttachments ? attachmentLimitOf(account, services.attachmentSettings) : 0;
  const maxBytes = limit === 0 ? undefined : bodyBytes + limit;
  const hasBody = method !== 'GET';
  const body = hasBody ? await exchange.readBody(accountId, maxBytes) : Buffer.alloc(0);
  if ('unusable' in body) throw unusableBody(body.unusable);
  if (hasBody && !isPlain(headers['content-encoding'])) throw unusableBody(encodedBody.unusable);
  signer?.checkBody(Buffer.from(await hashInPieces([body]), 'latin1').toString('hex'));
  const [path = '', queryText] = escapeMalformedPercent(url).split('?', 2);
  const query = new URLSearchParams(queryText);
  const unknown = [...query.keys()].filter((name) => call.query?.includes(name) === false);
  if (unknown.length > 0)
    throw invalidMembers(unknown.map((field) => ({ field, reason: unknownMember })));
  const params = readParams(call.path, path);
  // Such as a NUL, which no query of the database can take.
  const unstorable = findInvalidText({ ...params, ...Object.fromEntries(query) });
  if (unstorable.length > 0) throw invalidMembers(unstorable);
  const facts: DropInRequest = {
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
  const answer = () => call.answer(facts);
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
  who: RequestSigner | string | undefined,
  remoteAddress: string,
): Promise<SendAdmission> {
  if (!who) throw new DropInRefusal('MISSING_KEY', 'The request has no API key.');
  const isKey = typeof who === 'string';
  const accountText = isKey ? accountTextOf(who) : who.principal.reach.accountId;
  // An access token names no account, and these APIs have no other place for one.
  if (accountText === '') throw new Fault('UNAUTHORIZED');
  const authorization = isKey ? `Bearer ${who}` : undefined;
  const head = { authorization, accountText, remoteAddress: () => remoteAddress };
  const signed = isKey ? {} : { authenticator: { authenticate: () => who.principal } };
  return withTimeout(admitCaller({ ...access, ...signed }, { permission }, head));
}

/** The values of a pattern's parameters in a path that ends with what it matches. */
function readParams(pattern: string, path: string): Record<string, string> {
  const names = pattern.split('/');
  const parts = path.replace(/\/$/, '').split('/').slice(-names.length);
  const pairs = names.map((name, index) => [name.slice(1), parts[index] ?? ''] as const);
  const given = pairs.filter((_, index) => names[index]?.startsWith(':'));
  return Object.fromEntries(given.map(([name, part]) => [name, decodeURIComponent(part)]));
}
