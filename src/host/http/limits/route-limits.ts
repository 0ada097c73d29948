/** Who can call a route, as worded in the table in docs/reference/limits.md. */
type Caller =
  | 'anyone'
  | 'anyone with the link'
  | 'a browser'
  | 'a signed-in person'
  | 'a registered client'
  | 'a token or API key'
  | 'an inbox reader'
  | 'a metrics reader'
  | 'the relay'
  | (string & {});

/** The limits of one route. A route without an entry can't be registered. */
export interface RouteLimit {
  /** GET includes HEAD. */
  readonly methods: readonly string[];
  /** As registered; a final `*` matches anything. */
  readonly path: string;
  readonly caller: Caller;
  /** The caller is authenticated before the body is read, so it counts against the budget of authenticated callers. */
  readonly known: boolean;
  /** Max bytes of the body; 0 if the route accepts none. */
  readonly bodyBytes: number;
  /** Max seconds that the body may take to arrive. */
  readonly bodySeconds: number;
  /** Max values in a JSON body: members and array items, nested ones included. */
  readonly bodyValues?: number;
  /** Max items of the list in the body. */
  readonly bodyItems?: number;
  /** How much more the body may have, depending on the account; for the documentation. */
  readonly extraBytes?: string;
  /** The body is streamed to disk and isn't kept in memory. */
  readonly streamed?: boolean;
}

export const kibibyte = 1024;
export const mebibyte = 1024 * kibibyte;
export const gibibyte = 1024 * mebibyte;

/** Formats a size for error messages and the table, in the largest unit that divides it evenly. */
export function formatBytes(bytes: number): string {
  if (bytes >= gibibyte && bytes % gibibyte === 0) return `${bytes / gibibyte} GiB`;
  if (bytes >= mebibyte && bytes % mebibyte === 0) return `${bytes / mebibyte} MiB`;
  if (bytes >= kibibyte && bytes % kibibyte === 0) return `${bytes / kibibyte} KiB`;
  return `${bytes} bytes`;
}

/** Max bytes of the send operation's body. */
export const sendBodyBytes = 256 * kibibyte;

/** Max messages of a batch. */
export const maxBatchMessages = 1_000;

/** Max bytes of a form with a few short fields. */
const formBytes = 4 * kibibyte;
/** Of those with addresses of programs, or what an authenticator says. */
const longFormBytes = 16 * kibibyte;

type Body = Pick<RouteLimit, 'bodyBytes' | 'bodySeconds' | 'bodyItems' | 'extraBytes'>;

const none: Body = { bodyBytes: 0, bodySeconds: 0 };
const form: Body = { bodyBytes: formBytes, bodySeconds: 5 };
const longForm: Body = { bodyBytes: longFormBytes, bodySeconds: 5 };
/** A form that is just a button. */
const button: Body = { bodyBytes: 1 * kibibyte, bodySeconds: 5 };

/** Callers authenticated before their body is read. */
const knownCallers: ReadonlySet<Caller> = new Set(['a token or API key', 'an inbox reader']);

function line(methods: string, path: string, caller: Caller, body: Body): RouteLimit {
  const known = knownCallers.has(caller);
  return { methods: methods.split(' '), path, caller, known, ...body };
}

/** Every route except those of the management API, which have limits in their own table. */
export const routeLimits: readonly RouteLimit[] = [
  // The contract
  line('POST', '/token', 'a registered client', form),
  line('GET POST', '/authorize', 'a signed-in person', longForm),
  // Before the pattern that also matches it.
  line('POST', '/ete/v1/email/:accountId/:templateId/batch', 'a token or API key', {
    bodyBytes: 10 * mebibyte,
    bodySeconds: 60,
    bodyItems: maxBatchMessages,
  }),
  line('POST', '/ete/v1/email/:accountId', 'a token or API key', {
    bodyBytes: sendBodyBytes,
    extraBytes: 'plus the account’s attachment limit',
    bodySeconds: 30,
  }),
  line('POST', '/ete/v1/email/*', 'a token or API key', {
    bodyBytes: sendBodyBytes,
    extraBytes: 'plus the account’s attachment limit',
    bodySeconds: 30,
  }),
  line('GET', '/ete/v1/message/:accountId/:messageId', 'a token or API key', none),
  line('GET', '/ete/v1/message/*', 'a token or API key', none),
  line('GET', '/api/1/list', 'a token or API key', none),

  // Client tokens
  line('POST', '/revoke', 'a registered client', form),
  line('POST', '/introspect', 'a registered client', form),
  line('GET', '/.well-known/oauth-authorization-server', 'anyone', none),

  // Pages
  line('GET', '/brand/:file', 'anyone', none),
  line('GET', '/session.js', 'anyone', none),
  line('GET', '/password.js', 'anyone', none),
  line('GET', '/copy.js', 'anyone', none),
  line('GET POST', '/sign-in', 'a browser', form),
  line('GET POST', '/sign-in/code', 'a browser', form),
  line('GET POST', '/sign-in/recovery-code', 'a browser', form),
  line('POST', '/sign-in/passkey', 'a browser', longForm),
  line('GET POST', '/sign-in/confirm', 'a signed-in person', longForm),
  line('GET', '/sign-in/confirm/oidc', 'a signed-in person', none),
  line('GET', '/sign-in/oidc', 'a browser', none),
  line('GET', '/sign-in/oidc/callback', 'a browser', none),
  line('GET', '/sign-in/oidc/callback/:accountId', 'a browser', none),
  line('POST', '/sign-out', 'a browser', form),
  line('GET POST', '/forgot-password', 'a browser', form),
  line('GET POST', '/set-password', 'anyone with the link', form),
  line('GET', '/set-password/:token', 'anyone with the link', none),
  line('GET POST', '/invitation', 'anyone with the link', form),
  line('GET', '/invitation/:token', 'anyone with the link', none),
  line('GET POST', '/end-sessions/:token', 'anyone with the link', button),
  line('POST', '/invitation/decline', 'anyone with the link', form),
  line('GET', '/me', 'a signed-in person', none),
  line('GET', '/me/confirmed', 'a signed-in person', none),
  line('GET POST', '/me/password', 'a signed-in person', form),
  line('GET', '/me/second-factor', 'a signed-in person', none),
  line('POST', '/me/second-factor/begin', 'a signed-in person', form),
  line('POST', '/me/second-factor/confirm', 'a signed-in person', form),
  line('POST', '/me/second-factor/recovery-codes', 'a signed-in person', form),
  line('POST', '/me/second-factor/remove', 'a signed-in person', form),
  line('GET', '/me/passkeys', 'a signed-in person', none),
  line('POST', '/me/passkeys', 'a signed-in person', longForm),
  line('GET', '/me/passkeys/new', 'a signed-in person', none),
  line('GET', '/me/passkeys/:id', 'a signed-in person', none),
  line('POST', '/me/passkeys/rename', 'a signed-in person', form),
  line('POST', '/me/passkeys/remove', 'a signed-in person', form),
  line('POST', '/me/providers/connect', 'a signed-in person', form),
  line('POST', '/me/providers/disconnect', 'a signed-in person', form),
  line('POST', '/me/language', 'a signed-in person', form),
  line('POST', '/me/sessions/end', 'a signed-in person', form),
  line('POST', '/me/sessions/end-others', 'a signed-in person', form),
  line('POST', '/me/consents/withdraw', 'a signed-in person', form),

  // Links in email
  line('GET', '/o/:image', 'anyone with the link', none),
  line('GET', '/images/:accountId/:file', 'anyone', none),
  line('GET', '/c/:token', 'anyone with the link', none),
  line('GET POST', '/g/:token', 'anyone with the link', button),
  line('GET POST', '/u/:token', 'anyone with the link', {
    bodyBytes: 4 * kibibyte,
    bodySeconds: 5,
  }),
  line('POST', '/u/:token/undo', 'anyone with the link', button),
  line('GET', '/status/:token', 'anyone with the link', none),
  line('GET POST', '/verify-sender/:token', 'anyone with the link', button),

  // Relay notifications; each route exists only if it is configured
  line('POST', '/intake/ses', 'the relay', { bodyBytes: 1 * mebibyte, bodySeconds: 15 }),
  line('POST', '/intake/postmark', 'the relay', { bodyBytes: 4 * mebibyte, bodySeconds: 15 }),
  line('POST', '/intake/mailgun', 'the relay', { bodyBytes: 1 * mebibyte, bodySeconds: 15 }),
  line('POST', '/intake/sendgrid', 'the relay', { bodyBytes: 1 * mebibyte, bodySeconds: 15 }),

  // The inbox
  line('GET', '/inbox/enter', 'anyone with the link', none),
  line('GET', '/inbox', 'anyone', none),
  line('GET', '/inbox/messages/*', 'anyone', none),
  line('GET DELETE', '/inbox/api/messages', 'an inbox reader', button),

  // The console
  line('GET', '/', 'anyone', none),
  line('GET', '/console', 'anyone', none),
  line('GET', '/console/frame', 'anyone', none),
  line('GET', '/console/assets/*', 'anyone', none),
  line('GET', '/console/*', 'anyone', none),

  // Documents
  line('GET', '/openapi.json', 'anyone', none),
  line('GET', '/docs', 'anyone', none),
  line('GET', '/docs/start.js', 'anyone', none),
  line('GET', '/docs/viewer.js', 'anyone', none),
  line('GET', '/docs/guide', 'anyone', none),
  line('GET', '/docs/guide/*', 'anyone', none),
  line('GET', '/problems/:name', 'anyone', none),

  // Operations
  line('GET', '/healthz', 'anyone', none),
  line('GET', '/readyz', 'anyone', none),
  line('GET', '/metrics', 'a metrics reader', none),
];
