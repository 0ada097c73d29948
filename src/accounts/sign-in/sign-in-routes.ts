import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Http } from '../../host/http/create-http.ts';
import { SlowDown, TemporarilyUnavailable } from '../oauth/oauth-errors.ts';
import type { SessionContext } from '../session-context.ts';
import { completeSignIn } from './complete-sign-in.ts';
import { formOf, recordRequest } from './form.ts';
import { localPath, signInPath } from './local-path.ts';
import { seeOther, sendPage } from './pages/layout.ts';
import { type SignInPage, signInPage } from './pages/sign-in-page.ts';
import { signInFailureText } from './single-sign-on/sign-in-failures.ts';

/** Shown after a passkey that was not accepted. */
export const passkeyFailedText =
  'The passkey wasn’t accepted. It may have been removed, or the page expired. Try again, or sign in another way.';

/** Shown after a correct password or passkey of people who must sign in with a provider. */
const needsProviderText =
  'Sign in with your company’s provider. Use its button, or the link from your administrator.';

const setUpDoneText =
  'This setup link isn’t valid anymore, because the service is set up. Sign in.';

/** By the query's `failed`. */
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
export function registerSignInRoutes(scope: Http, context: SessionContext): void {
  const { browser, passkeys, providers } = context;
  const provider = providers.installation;

  scope.get('/sign-in', async (request, reply) => {
    const next = localPath(queryOf(request, 'next'));
    const visit = await browser.visit(request, reply);
    if (visit.isSignedIn) return seeOther(reply, next);
    const prompt = await passkeys.prompt({ purpose: 'sign-in', csrf: visit.csrf });
    const failed = queryOf(request, 'failed');
    const error = failureTexts.get(failed) ?? signInFailureText(failed);
    return sendPage(reply, signInPage({ csrf: visit.csrf, next, prompt, provider, error }));
  });

  scope.post('/sign-in', (request, reply) => signIn(context, request, reply));

  scope.post('/sign-out', async (request, reply) => {
    const form = formOf(request);
    const next = localPath(form.get('next'));
    if (browser.hasValidCsrfToken(request, form)) await browser.signOut(request);
    return seeOther(reply, signInPath(next));
  });
}

async function signIn(
  context: SessionContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { database, browser, devices, passkeys, notices } = context;
  const provider = context.providers.installation;
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
    // A person who returns here after signing in continues to `next`.
    if (visit.isSignedIn) return seeOther(reply, next);
    return showAgain({ note: expiredFormNotice, status: 403 });
  }
  try {
    const result = await context.passwordAuthenticator.authenticate(
      email,
      form.get('password') ?? '',
      {
        kind: 'sign-in',
        remoteAddress: request.ip,
        device: await devices.read(request, email),
      },
    );
    const { person } = result;
    if (person === undefined) {
      // Strangers can't fill the audit log with people who don't exist.
      if (result.claimed !== undefined) await record('refused', result.claimed.id);
      const error = result.needsProvider
        ? needsProviderText
        : 'Incorrect email address or password.';
      return showAgain({ error, status: 401 });
    }
    const { id: personId, email: address } = person;
    if (await context.secondFactors.has(personId)) {
      await browser.signIn(request, reply, personId, undefined, false);
      return seeOther(reply, `/sign-in/code?${new URLSearchParams({ next })}`);
    }
    await completeSignIn(context, request, reply, { personId, email: address });
    await record('success', personId);
    return seeOther(reply, next);
  } catch (error) {
    if (!(error instanceof SlowDown || error instanceof TemporarilyUnavailable)) throw error;
    if (error instanceof SlowDown) notices.blocked(email, request);
    reply.header('retry-after', error.retryAfter);
    return showAgain({ error: waitText(error.retryAfter), status: error.status });
  }

  function record(outcome: 'success' | 'refused', personId: string): Promise<void> {
    return recordRequest(database, request, { kind: 'sign_in', outcome, personId });
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
