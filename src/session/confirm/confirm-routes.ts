import type { FastifyReply } from 'fastify';
import type { Http } from '../../http/create-http.ts';
import type { BrowserSessions } from '../browser/browser-sessions.ts';
import type { PageCall, PageDoor } from '../browser/page-door.ts';
import { originOf } from '../form-body.ts';
import { localPath } from '../local-path.ts';
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
  readonly browser: Pick<BrowserSessions, 'confirm'>;
  readonly door: PageDoor;
  readonly confirmation: Confirmation;
  readonly passkeys: Passkeys;
  readonly secondFactors: SecondFactors;
  readonly providers: Pick<SignInProviders, 'findOf'>;
}

const noPasswordText =
  'You signed in with your account’s provider. Continue with it, or use a passkey.';

/**
 * `GET` and `POST /sign-in/confirm`: a signed-in person proves again who they are, by passkey, by password and
 * code, or by the provider they signed in with (`GET /sign-in/confirm/oidc`), and continues to the local path `next` (ASVS 3.7.1).
 * A session of an account's provider can't be confirmed by password. `GET /me/confirmed` tells the console, whose window stays open meanwhile.
 */
export function registerConfirmRoutes(scope: Http, dependencies: ConfirmRoutesDependencies): void {
  const { browser, door, confirmation, passkeys, secondFactors, providers } = dependencies;

  async function show(
    { reply, csrf, person }: PageCall,
    next: string,
    failure: { readonly error?: string; readonly status?: number } = {},
  ): Promise<FastifyReply> {
    const { personId, email } = person;
    const [prompt, needsCode, provider] = await Promise.all([
      passkeys.prompt({ purpose: 'confirm', csrf, personId }),
      secondFactors.has(personId),
      providers.findOf(person),
    ]);
    const ownPassword = person.reach === 'all' ? { email, needsCode } : undefined;
    return sendPage(
      reply,
      confirmPage({ csrf, next, prompt, ownPassword, providerName: provider?.name, ...failure }),
    );
  }

  door.page(scope, '/sign-in/confirm', { access: 'signed-in' }, async (call) => {
    const next = localPath(queryOf(call.request, 'next'));
    if (call.person.recentlyConfirmed) return seeOther(call.reply, next);
    const error = signInFailureText(queryOf(call.request, 'failed'));
    return show(call, next, error === undefined ? {} : { error });
  });

  door.page(scope, '/me/confirmed', { access: 'signed-in' }, async ({ reply }) =>
    sendPage(reply, afterConfirmPage()),
  );

  door.form(scope, '/sign-in/confirm', { access: 'signed-in' }, async (call) => {
    const { request, reply, form } = call;
    const next = localPath(form.get('next'));
    const passkey = form.get('answer');
    // Whoever runs an account's provider could guess the password here.
    if (passkey === undefined && call.person.reach !== 'all')
      return show(call, next, { error: noPasswordText, status: 403 });
    try {
      const confirmed = await confirmation.check(call, originOf(request), {
        passkey,
        password: form.get('password'),
        code: form.get('code'),
      });
      if (!confirmed) {
        const error = passkey === undefined ? 'Incorrect password or code.' : passkeyFailedText;
        return show(call, next, { error, status: 401 });
      }
    } catch (error) {
      if (!(error instanceof SlowDown || error instanceof TemporarilyUnavailable)) throw error;
      reply.header('retry-after', error.retryAfter);
      return show(call, next, {
        error: waitText(error.retryAfter),
        status: error.status,
      });
    }
    await browser.confirm(request, reply);
    return seeOther(reply, next);
  });
}
