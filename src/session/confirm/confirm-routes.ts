import type { FastifyReply } from 'fastify';
import type { Http } from '../../http/create-http.ts';
import type { BrowserSessions } from '../browser/browser-sessions.ts';
import { originOf } from '../form-body.ts';
import { localPath } from '../local-path.ts';
import { type SignedInVisit, signedInForm, signedInPage } from '../me/signed-in-form.ts';
import { SlowDown, TemporarilyUnavailable } from '../oauth-errors.ts';
import { afterConfirmPage, confirmPage } from '../pages/confirm-page.ts';
import { seeOther, sendPage } from '../pages/layout.ts';
import type { Passkeys } from '../passkey/passkeys.ts';
import type { SecondFactors } from '../second-factor.ts';
import { passkeyFailedText, queryOf, waitText } from '../sign-in-routes.ts';
import { signInFailureText } from '../single-sign-on/sign-in-failures.ts';
import type { SignInProviders } from '../single-sign-on/sign-in-providers.ts';
import type { Confirmation } from './confirmation.ts';

export interface ConfirmRoutesDependencies {
  readonly browser: BrowserSessions;
  readonly confirmation: Confirmation;
  readonly passkeys: Passkeys;
  readonly secondFactors: SecondFactors;
  readonly providers: Pick<SignInProviders, 'findOf'>;
}

/**
 * `GET` and `POST /sign-in/confirm`: a signed-in person proves again who they are, by passkey, by password and
 * code, or by the provider they signed in with (`GET /sign-in/confirm/oidc`), and continues to the local path `next` (ASVS 3.7.1). `GET /me/confirmed` tells the console, whose window stays open meanwhile.
 */
export function registerConfirmRoutes(scope: Http, dependencies: ConfirmRoutesDependencies): void {
  const { browser, confirmation, passkeys, secondFactors, providers } = dependencies;

  async function show(
    reply: FastifyReply,
    { csrf, person }: SignedInVisit,
    next: string,
    failure: { readonly error?: string; readonly status?: number } = {},
  ): Promise<FastifyReply> {
    const { personId, email } = person;
    const [prompt, needsCode, provider] = await Promise.all([
      passkeys.prompt({ purpose: 'confirm', csrf, personId }),
      secondFactors.has(personId),
      providers.findOf(person),
    ]);
    const providerName = provider?.name;
    return sendPage(
      reply,
      confirmPage({ csrf, next, email, prompt, needsCode, providerName, ...failure }),
    );
  }

  scope.get('/sign-in/confirm', (request, reply) =>
    signedInPage(browser, async (visit) => {
      const next = localPath(queryOf(request, 'next'));
      if (visit.person.recentlyConfirmed) return seeOther(reply, next);
      const error = signInFailureText(queryOf(request, 'failed'));
      return show(reply, visit, next, error === undefined ? {} : { error });
    })(request, reply),
  );

  scope.get('/me/confirmed', (request, reply) =>
    signedInPage(browser, async () => sendPage(reply, afterConfirmPage()))(request, reply),
  );

  scope.post(
    '/sign-in/confirm',
    signedInForm(browser, '/sign-in/confirm', (request, reply) => async (visit, form) => {
      const next = localPath(form.get('next'));
      const passkey = form.get('answer');
      try {
        const confirmed = await confirmation.check(visit, originOf(request), {
          passkey,
          password: form.get('password'),
          code: form.get('code'),
        });
        if (!confirmed) {
          const error = passkey === undefined ? 'Incorrect password or code.' : passkeyFailedText;
          return show(reply, visit, next, { error, status: 401 });
        }
      } catch (error) {
        if (!(error instanceof SlowDown || error instanceof TemporarilyUnavailable)) throw error;
        reply.header('retry-after', error.retryAfter);
        return show(reply, visit, next, {
          error: waitText(error.retryAfter),
          status: error.status,
        });
      }
      await browser.confirm(request, reply);
      return seeOther(reply, next);
    }),
  );
}
