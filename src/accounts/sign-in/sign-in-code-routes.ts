import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { PersonId } from '../../base/values/ids.ts';
import type { Http } from '../../host/http/create-http.ts';
import { SlowDown } from '../oauth/oauth-errors.ts';
import type { SessionContext } from '../session-context.ts';
import { withOwnSecondFactor } from './browser/browser-session-store.ts';
import { completeSignIn } from './complete-sign-in.ts';
import { formOf, recordRequest } from './form.ts';
import { localPath, signInPath } from './local-path.ts';
import type { GuessOrigin } from './login-throttle.ts';
import { type Page, type StepPage, seeOther, sendPage } from './pages/layout.ts';
import { recoveryCodePage } from './pages/recovery-codes-page.ts';
import { secondFactorPage } from './pages/sign-in-page.ts';
import { passkeyFailedText, queryOf, waitText } from './sign-in-routes.ts';

/** Browsers whose refused guess gets the same response for a second, without a query. */
const maxRefused = 1_000;
const refusalMs = 1_000;

type Refusals = LRUCache<string, { readonly page: Page; readonly retryAfter: number }>;

/** A way to verify the second factor. */
interface SecondFactorMethod {
  readonly path: string;
  readonly page: (page: StepPage & { readonly personId: PersonId }) => Promise<Page> | Page;
  readonly wrongCodeText: string;
  /** Details for the audit log entry of the sign-in. */
  readonly detail: Readonly<Record<string, boolean>>;
  verifyCode(personId: PersonId, code: string, origin: GuessOrigin): Promise<boolean>;
}

/**
 * `GET` and `POST /sign-in/code`: the second factor after the right password, or its passkey (`POST /sign-in/passkey`);
 * `GET` and `POST /sign-in/recovery-code`: a recovery code instead. Both continue to the local path `next`.
 */
export function registerSignInCodeRoutes(scope: Http, context: SessionContext): void {
  const { browser, secondFactors, recoveryCodes, passkeys, clock } = context;
  const refusals: Refusals = new LRUCache({
    max: maxRefused,
    ttl: refusalMs,
    perf: { now: () => clock.monotonic() },
  });
  const methods: readonly SecondFactorMethod[] = [
    {
      path: '/sign-in/code',
      async page({ personId, csrf, ...page }) {
        const [prompt, hasAuthenticator] = await Promise.all([
          passkeys.prompt({ purpose: 'second-factor', csrf, personId }),
          secondFactors.hasAuthenticator(personId),
        ]);
        return secondFactorPage({ csrf, prompt, hasAuthenticator, ...page });
      },
      wrongCodeText: 'Incorrect or already used code. Enter the next one from your app.',
      detail: { secondFactor: true },
      verifyCode: (...guess) => secondFactors.verify(...guess),
    },
    {
      path: '/sign-in/recovery-code',
      page: recoveryCodePage,
      wrongCodeText: 'Incorrect or already used recovery code.',
      detail: { secondFactor: true, recoveryCode: true },
      verifyCode: (...guess) => recoveryCodes.consume(...guess),
    },
  ];
  for (const method of methods) {
    scope.get(method.path, async (request, reply) => {
      const next = localPath(queryOf(request, 'next'));
      const {
        csrf,
        isSignedIn,
        awaitingSecondFactor: halfway,
      } = await browser.visit(request, reply);
      if (isSignedIn) return seeOther(reply, next);
      if (halfway === undefined) return seeOther(reply, signInPath(next));
      const { personId } = halfway;
      const failed = queryOf(request, 'failed') === 'passkey';
      const error = failed ? passkeyFailedText : undefined;
      return sendPage(reply, await method.page({ personId, csrf, next, error }));
    });
    scope.post(method.path, (request, reply) =>
      submitCode(context, refusals, method, request, reply),
    );
  }
}

async function submitCode(
  context: SessionContext,
  refusals: Refusals,
  method: SecondFactorMethod,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { database, browser, devices, notices } = context;
  const form = formOf(request);
  const next = localPath(form.get('next'));
  const isOwnForm = browser.hasValidCsrfToken(request, form);
  // The token stands for the browser and its session.
  const guesser = `${method.path} ${form.get('csrf')} ${next}`;
  const refusal = isOwnForm ? refusals.get(guesser) : undefined;
  if (refusal !== undefined) {
    reply.header('retry-after', refusal.retryAfter);
    return sendPage(reply, refusal.page);
  }
  const { csrf, isSignedIn, awaitingSecondFactor: halfway } = await browser.visit(request, reply);
  if (isSignedIn) return seeOther(reply, next);
  if (halfway === undefined || !isOwnForm) return seeOther(reply, signInPath(next));
  const { personId, email } = halfway;
  const guess = {
    kind: 'sign-in',
    remoteAddress: request.ip,
    device: await devices.read(request, email),
    identityId: halfway.identityId,
  } as const;
  const { detail } = method;
  const record = (outcome: 'success' | 'refused') =>
    recordRequest(database, request, { kind: 'sign_in', outcome, personId, detail });
  const pageAgain = async (error: string, status: number) =>
    method.page({ personId, csrf, next, error, status });
  try {
    if (!(await method.verifyCode(personId, form.get('code') ?? '', guess))) {
      await record('refused');
      return sendPage(reply, await pageAgain(method.wrongCodeText, 401));
    }
  } catch (error) {
    if (!(error instanceof SlowDown)) throw error;
    notices.blocked(email, request);
    const { retryAfter, status } = error;
    const page = await pageAgain(waitText(retryAfter), status);
    refusals.set(guesser, { page, retryAfter });
    reply.header('retry-after', retryAfter);
    return sendPage(reply, page);
  }
  const signedIn = { personId, email, provider: withOwnSecondFactor(halfway) };
  await completeSignIn(context, request, reply, signedIn);
  await record('success');
  return seeOther(reply, next);
}
