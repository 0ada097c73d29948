import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AuditStore } from '../audit/audit-store.ts';
import type { Http } from '../http/create-http.ts';
import type { BrowserSessions } from './browser/browser-sessions.ts';
import type { KnownDevices } from './browser/known-devices.ts';
import { completeSignIn, type SignInNotices } from './complete-sign-in.ts';
import { formOf, originOf } from './form.ts';
import { localPath } from './local-path.ts';
import { SlowDown, TemporarilyUnavailable } from './oauth-errors.ts';
import { seeOther, sendPage } from './pages/layout.ts';
import { type SignInPage, signInPage } from './pages/sign-in-page.ts';
import type { Passkeys } from './passkey/passkeys.ts';
import type { PasswordAuthenticator } from './password-checker.ts';
import type { SecondFactors } from './second-factor.ts';
import { signInFailureText } from './single-sign-on/sign-in-failures.ts';
import type { SignInProvider } from './single-sign-on/sign-in-provider.ts';

export interface SignInDependencies {
  readonly browser: BrowserSessions;
  readonly devices: KnownDevices;
  readonly passwordAuthenticator: PasswordAuthenticator;
  readonly secondFactors: SecondFactors;
  readonly passkeys: Passkeys;
  readonly notices: SignInNotices;
  /** The installation's sign-in provider; undefined: none. */
  readonly provider: Pick<SignInProvider, 'accountId' | 'name'> | undefined;
  readonly audit: AuditStore;
}

/** Shown after a passkey that was not accepted. */
export const passkeyFailedText =
  'The passkey wasn’t accepted. It may have been removed, or the page expired. Try again, or sign in another way.';

/** Shown after a correct password or passkey of people who must sign in with a provider. */
const needsProviderText =
  'Sign in with your company’s provider. Use its button, or the link from your administrator.';

const setUpDoneText =
  'This setup link isn’t valid anymore, because the service is set up. Sign in.';

/** By what the query names. */
const failureTexts: ReadonlyMap<string | undefined, string> = new Map([
  ['passkey', passkeyFailedText],
  ['needs-provider', needsProviderText],
  ['set-up-done', setUpDoneText],
]);

const expiredFormNotice = 'This page expired. Sign in again.';

/**
 * `GET /sign-in?next=…`, `POST /sign-in`: address and password, then the second factor if there is one; `POST
 * /sign-out`. All continue to the local path `next`.
 */
export function registerSignInRoutes(scope: Http, dependencies: SignInDependencies): void {
  const { browser, passkeys, provider } = dependencies;

  scope.get('/sign-in', async (request, reply) => {
    const next = localPath(queryOf(request, 'next'));
    const visit = await browser.visit(request, reply);
    if (visit.isSignedIn) return seeOther(reply, next);
    const prompt = await passkeys.prompt({ purpose: 'sign-in', csrf: visit.csrf });
    const failed = queryOf(request, 'failed');
    const error = failureTexts.get(failed) ?? signInFailureText(failed);
    return sendPage(reply, signInPage({ csrf: visit.csrf, next, prompt, provider, error }));
  });

  scope.post('/sign-in', (request, reply) => signIn(dependencies, request, reply));

  scope.post('/sign-out', async (request, reply) => {
    const form = formOf(request);
    const next = localPath(form.get('next'));
    if (browser.hasValidCsrfToken(request, form)) await browser.signOut(request);
    return seeOther(reply, signInPath(next));
  });
}

/** The sign-in page that continues to a local path. */
export function signInPath(next: string): string {
  return `/sign-in?${new URLSearchParams({ next })}`;
}

async function signIn(
  dependencies: SignInDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { browser, devices, passwordAuthenticator, secondFactors, passkeys, notices, audit } =
    dependencies;
  const { provider } = dependencies;
  const form = formOf(request);
  const next = localPath(form.get('next'));
  const email = form.get('email') ?? '';
  const visit = await browser.visit(request, reply);
  const showAgain = async (page: Partial<SignInPage>) => {
    const prompt = await passkeys.prompt({ purpose: 'sign-in', csrf: visit.csrf });
    return sendPage(
      reply,
      signInPage({ csrf: visit.csrf, next, email, prompt, provider, ...page }),
    );
  };

  if (!browser.hasValidCsrfToken(request, form)) {
    // Someone who went back to this page after signing in continues to their page.
    if (visit.isSignedIn) return seeOther(reply, next);
    return showAgain({ note: expiredFormNotice, status: 403 });
  }
  try {
    const result = await passwordAuthenticator.authenticate(email, form.get('password') ?? '', {
      kind: 'sign-in',
      remoteAddress: request.ip,
      device: await devices.read(request, email),
    });
    const { person } = result;
    if (person === undefined) {
      // Strangers can't fill the audit log with people who don't exist.
      if (result.claimed !== undefined) await record('refused', result.claimed.id);
      const error = result.needsProvider
        ? needsProviderText
        : 'Incorrect email address or password.';
      return showAgain({ error, status: 401 });
    }
    const complete = !(await secondFactors.has(person.id));
    if (complete) {
      const signedIn = { personId: person.id, email: person.email };
      await completeSignIn({ browser, devices, notices }, request, reply, signedIn);
      await record('success', person.id);
    } else await browser.awaitSecondFactor(request, reply, person.id);
    return seeOther(reply, complete ? next : `/sign-in/code?${new URLSearchParams({ next })}`);
  } catch (error) {
    if (!(error instanceof SlowDown || error instanceof TemporarilyUnavailable)) throw error;
    if (error instanceof SlowDown) notices.blocked(email, request);
    reply.header('retry-after', error.retryAfter);
    return showAgain({ error: waitText(error.retryAfter), status: error.status });
  }

  function record(outcome: 'success' | 'refused', personId: string): Promise<void> {
    return audit.record({ kind: 'sign_in', outcome, personId, origin: originOf(request) });
  }
}

export function waitText(seconds: number): string {
  const wait =
    seconds < 90
      ? `${seconds} second${seconds === 1 ? '' : 's'}`
      : `${Math.ceil(seconds / 60)} minutes`;
  return `Too many attempts. Wait ${wait}, then try again.`;
}

/** A query parameter, if it was sent exactly once. */
export function queryOf(request: FastifyRequest, name: string): string | undefined {
  const value = (request.query as Readonly<Record<string, unknown>>)[name];
  return typeof value === 'string' ? value : undefined;
}
