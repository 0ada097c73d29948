import type { FastifyRequest } from 'fastify';
import type { Database } from '../../base/database/open-database.ts';
import type { Http } from '../../host/http/create-http.ts';
import { type AuditEvent, type RequestOrigin, recordAuditEvent } from '../audit/audit-store.ts';
import { OAuthError } from '../oauth/oauth-errors.ts';

/** NUL or an unpaired surrogate: neither can be stored as text. */
const unusablePattern = /\0|\p{Surrogate}/u;

/** Far more than any request has. Reading parameters takes time with the square of their number. */
const maxParameters = 200;

/** True for a form or query that isn't worth parsing. */
export function hasTooManyParameters(text: string): boolean {
  return text.split('&', maxParameters + 1).length > maxParameters;
}

/**
 * The parameters of a form, without repetitions. A parameter without a value counts as missing (RFC 6749 section
 * 3.2); unknown ones are kept and ignored.
 */
export class Form {
  readonly #fields: ReadonlyMap<string, string>;

  constructor(fields: ReadonlyMap<string, string>) {
    this.#fields = fields;
  }

  /** The value, or undefined if it is missing or empty. */
  get(name: string): string | undefined {
    const value = this.#fields.get(name);
    return value === '' ? undefined : value;
  }

  /** @throws OAuthError if the value is missing or empty */
  require(name: string): string {
    const value = this.get(name);
    if (value === undefined)
      throw new OAuthError('invalid_request', `The parameter ${name} is missing`);
    return value;
  }
}

/**
 * Parses `application/x-www-form-urlencoded` text.
 * @throws OAuthError if it is badly encoded, contains NUL, has too many parameters or repeats one (RFC 6749 section 3.2)
 */
export function parseForm(text: string): Form {
  if (!isWellEncoded(text)) throw new OAuthError('invalid_request', 'The form is badly encoded');
  if (hasTooManyParameters(text))
    throw new OAuthError('invalid_request', 'The form has too many parameters');
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(text)) {
    if (unusablePattern.test(name) || unusablePattern.test(value))
      throw new OAuthError('invalid_request', 'The form is badly encoded');
    if (fields.has(name))
      throw new OAuthError('invalid_request', `The parameter ${printableName(name)} is repeated`);
    fields.set(name, value);
  }
  return new Form(fields);
}

/**
 * Decodes one value of a form.
 * @returns undefined if it is badly encoded
 */
export function decodeFormValue(text: string): string | undefined {
  if (!isWellEncoded(text)) return undefined;
  const value = decodeURIComponent(text.replaceAll('+', ' '));
  return unusablePattern.test(value) ? undefined : value;
}

/** False for a percent sign without two hex digits, and for bytes that aren't valid UTF-8. */
function isWellEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return text.isWellFormed();
  } catch {
    return false;
  }
}

/** Parameter names are untrusted, so errors show only plain words. */
function printableName(name: string): string {
  return /^[A-Za-z0-9_.-]{1,40}$/.test(name) ? name : 'of that name';
}

/** Makes the routes of this scope accept forms only: `request.body` is a `Form`, or undefined without a body. */
export function acceptForms(scope: Http): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (request, body, done) => {
      const { 'content-encoding': coding = 'identity' } = request.headers;
      if (coding.toLowerCase() !== 'identity')
        return done(
          new OAuthError(
            'invalid_request',
            'A form can’t be compressed; send it without Content-Encoding',
          ),
        );
      try {
        done(null, parseForm(body.toString()));
      } catch (error) {
        done(error as Error);
      }
    },
  );
  scope.addContentTypeParser('*', (_request, body, done) => {
    body.resume();
    done(new OAuthError('invalid_request', 'The body must be application/x-www-form-urlencoded'));
  });
}

/** The form of a request; a missing body is an empty form. */
export function formOf(request: FastifyRequest): Form {
  return request.body instanceof Form ? request.body : new Form(new Map());
}

/** Records what a request did, or tried, in the audit log. */
export function recordRequest(
  { kysely }: Database,
  request: FastifyRequest,
  event: Omit<AuditEvent, 'origin'>,
): Promise<void> {
  return recordAuditEvent(kysely, { origin: originOf(request), ...event });
}

/** The origin of a request; the address is the client's, taking trusted proxies into account. */
export function originOf(request: FastifyRequest): RequestOrigin {
  return { remoteAddress: request.ip, requestId: request.id };
}
