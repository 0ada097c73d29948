import type { FastifyRequest } from 'fastify';
import { renderSVG } from 'uqr';
import { Html } from '../../base/values/html.ts';
import type { PersonId } from '../../base/values/ids.ts';
import type { Http } from '../../host/http/create-http.ts';
import { SlowDown } from '../oauth/oauth-errors.ts';
import type { SessionContext } from '../session-context.ts';
import { endOtherSessions } from '../sign-in/browser/browser-session-store.ts';
import type { PageCall } from '../sign-in/browser/page-door.ts';
import { seeOther, sendPage } from '../sign-in/pages/layout.ts';
import { enrollPage, secondFactorStatePage } from '../sign-in/pages/me-page.ts';
import { recoveryCodesPage } from '../sign-in/pages/recovery-codes-page.ts';
import { listPasskeys } from '../sign-in/passkey/passkey-store.ts';
import type { Enrollment } from '../sign-in/second-factor.ts';
import { countRecoveryCodes, removeAuthenticator } from '../sign-in/second-factor-store.ts';
import { waitText } from '../sign-in/sign-in-routes.ts';

const page = '/me/second-factor';
const rule = { access: 'full-reach', confirmed: true, page } as const;
const wrongCode = 'Incorrect or already used code. Enter the next one from your app.';

/**
 * `GET /me/second-factor`: set up or remove an authenticator app, and create recovery codes. `POST …/begin` shows the
 * key, `POST …/confirm` takes a first code and shows recovery codes, or the same key again after a wrong one. `POST …/recovery-codes` creates new ones and `POST
 * …/remove` removes the app. All ask people to confirm who they are.
 */
export function registerSecondFactorRoutes(scope: Http, context: SessionContext): void {
  const { door, secondFactors, recoveryCodes } = context;
  const { kysely } = context.database;

  async function showState({ reply, csrf, person }: PageCall, error?: string) {
    const { personId } = person;
    const [hasAuthenticator, list, remaining] = await Promise.all([
      secondFactors.hasAuthenticator(personId),
      listPasskeys(kysely, personId),
      countRecoveryCodes(kysely, personId),
    ]);
    return sendPage(
      reply,
      secondFactorStatePage({
        csrf,
        hasAuthenticator,
        hasPasskey: list.length > 0,
        recoveryCodes: remaining,
        error,
        status: error === undefined ? 200 : 401,
      }),
    );
  }

  function showEnrollment(
    { reply, csrf }: PageCall,
    { secret, uri }: Enrollment,
    failure?: { readonly error: string; readonly status: number },
  ) {
    const picture = new Html(renderSVG(uri, { border: 2 }));
    return sendPage(reply, enrollPage({ csrf, secret, picture, ...failure }));
  }

  /** @returns undefined if the code is right */
  async function tryFirstCode(request: FastifyRequest, personId: PersonId, code: string) {
    const origin = { kind: 'session', remoteAddress: request.ip } as const;
    try {
      const isRight = await secondFactors.verify(personId, code, origin);
      return isRight ? undefined : { error: wrongCode, status: 401, retryAfter: undefined };
    } catch (error) {
      if (!(error instanceof SlowDown)) throw error;
      const { status, retryAfter } = error;
      return { error: waitText(retryAfter), status, retryAfter };
    }
  }

  async function showNewCodes(call: PageCall) {
    const codes = await recoveryCodes.renew(call.person.personId);
    if (codes.length === 0) return seeOther(call.reply, page);
    await call.record('recovery_codes_made');
    return sendPage(call.reply, recoveryCodesPage(codes));
  }

  door.page(scope, page, rule, (call) => showState(call));

  door.form(scope, `${page}/begin`, rule, async (call) => {
    const { email, personId } = call.person;
    if (await secondFactors.hasAuthenticator(personId)) return seeOther(call.reply, page);
    return showEnrollment(call, await secondFactors.enroll(personId, email));
  });

  door.form(scope, `${page}/confirm`, rule, async (call) => {
    const { request, reply, form } = call;
    const { personId, email } = call.person;
    const isFirst = !(await secondFactors.has(personId));
    const failure = await tryFirstCode(request, personId, form.get('code') ?? '');
    if (failure !== undefined) {
      const pending = await secondFactors.resume(personId, email, form.get('secret') ?? '');
      if (pending === undefined) return showState(call, `${failure.error} Start again.`);
      if (failure.retryAfter !== undefined) reply.header('retry-after', failure.retryAfter);
      return showEnrollment(call, pending, failure);
    }
    await call.record('second_factor_added');
    if (!isFirst) return seeOther(reply, '/me?done=authenticator');
    // The other browsers signed in with the password alone.
    await endOtherSessions(kysely, call.person);
    return showNewCodes(call);
  });

  door.form(scope, `${page}/recovery-codes`, rule, (call) => showNewCodes(call));

  door.form(scope, `${page}/remove`, rule, async (call) => {
    await removeAuthenticator(kysely, call.person.personId);
    await call.record('second_factor_removed');
    return seeOther(call.reply, '/me?done=removed');
  });
}
