import type { FaultCode } from '../src/base/values/errors.ts';
import { errorCatalog } from '../src/host/http/error-catalog.ts';
import { type ProblemCode, problemCatalog } from '../src/operating/management/answer/problem.ts';

/** Cause and fix of every error of the send operation, message status and lists. */
const faultAdvice: Readonly<Record<FaultCode, readonly [cause: string, fix: string]>> = {
  SENDER_NOT_ALLOWED: [
    'From, display name or reply-to isn’t a verified sender of the account',
    'verify it under **Senders** or **Domains**, or use another',
  ],
  INVALID_ID: [
    'unknown account or template, not one of yours, or not published',
    'check both IDs, and publish the template',
  ],
  VALIDATION_FAILED: [
    'the body: type, length, unknown field, malformed JSON, missing add-on',
    'correct the fields in `details`',
  ],
  PERSONALIZATION_FAILURE: [
    'a field without a default has no value',
    'send the fields in `details`',
  ],
  RECIPIENT_SUPPRESSED: [
    'the To address bounced, complained, unsubscribed or was added manually',
    'don’t send; see [Suppressions](../tracking-and-reports.md#suppressions)',
  ],
  ACCOUNT_SUSPENDED: ['an operator suspended the account', 'ask the operator'],
  UNAUTHORIZED: [
    'no valid token or key, or no permission',
    'see [`WWW-Authenticate`](#www-authenticate)',
  ],
  IDEMPOTENCY_IN_PROGRESS: [
    'the first request with this key isn’t finished',
    'retry after `Retry-After`',
  ],
  IDEMPOTENCY_MISMATCH: [
    'the key was used with another template or body',
    'use a new key for a new message',
  ],
  QUOTA_EXCEEDED: [
    'the account’s quota for the hour or day is used up',
    'retry after `Retry-After`',
  ],
  IO_EXCEPTION: [
    'the database can’t commit, or the service is at capacity',
    'retry after `Retry-After` with the same `Idempotency-Key`',
  ],
  INTERNAL_ERROR: ['a bug', 'report the `requestId`'],
};

/** What to do about every error of the management API. */
const problemAdvice: Readonly<Record<ProblemCode, string>> = {
  'malformed-request': 'send valid JSON, parameters and headers',
  unauthenticated: 'sign in, or send a valid API key',
  forbidden: 'ask for the `permission` that the response names',
  'confirmation-required':
    'in the browser, confirm who you are at `/sign-in/confirm`; API keys aren’t asked',
  'single-sign-on-required': 'sign out, then sign in with the account’s provider',
  'second-factor-required': 'add a passkey or an authenticator app at `/me/second-factor`',
  'link-expired': 'ask for a new link',
  'foreign-request': 'send the request from the console’s own origin, with `X-Signalpost-Request`',
  'not-found': 'check the path; resources of other accounts look like missing ones',
  'method-not-allowed': 'use a method listed in `Allow`',
  'too-slow': 'send the body within the route’s [time limit](limits.md#routes)',
  conflict: '`detail` says what to resolve first',
  'breaks-callers': 'give the fields a default, or publish with `force`',
  'events-expired':
    'start without `after` for the oldest event that is kept, or with `after=latest`',
  'precondition-failed': 'read the resource again, then repeat the change with the new `ETag`',
  'too-large': 'send less; see the route’s [limit](limits.md#routes)',
  'unsupported-media-type': 'send the `Content-Type` that `detail` names',
  'validation-failed': 'correct the values in `errors`',
  'too-many-requests': 'retry after `Retry-After`',
  'internal-error': 'report the request ID',
  busy: 'retry after `Retry-After`; the account has too much in progress',
  unavailable: 'retry after `Retry-After`',
};

/** The tables of docs/reference/errors.md: errors of the send operation and the management API. */
export function describeErrors(): Readonly<Record<'faults' | 'problems', string>> {
  const faults = Object.entries(errorCatalog).map(([name, { status, message }]) => {
    const [cause, fix] = faultAdvice[name as FaultCode];
    return `| ${status} | \`${name}\` | ${message} | ${cause} | ${fix} |`;
  });
  const problems = Object.entries(problemCatalog).map(
    ([name, { status, title }]) =>
      `| ${status} | \`${name}\` | ${title} | ${problemAdvice[name as ProblemCode]} |`,
  );
  return {
    faults: [
      '| status | `errorName` | `message` | cause | fix |',
      '| --- | --- | --- | --- | --- |',
      ...faults,
    ].join('\n'),
    problems: [
      '| status | name | `title` | what to do |',
      '| --- | --- | --- | --- |',
      ...problems,
    ].join('\n'),
  };
}
