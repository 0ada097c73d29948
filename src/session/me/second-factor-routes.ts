import type { FastifyReply, FastifyRequest } from 'fastify';
import { renderSVG } from 'uqr';
import type { AuditStore } from '../../audit/audit-store.ts';
import type { PersonId } from '../../foundation/ids.ts';
import type { Http } from '../../http/create-http.ts';
import type { BrowserSessions } from '../browser/browser-sessions.ts';
import { originOf } from '../form-body.ts';
import { SlowDown } from '../oauth-errors.ts';
import { seeOther, sendPage } from '../pages/layout.ts';
import { enrollPage, secondFactorStatePage } from '../pages/me-page.ts';
import { recoveryCodesPage } from '../pages/recovery-codes-page.ts';
import type { Passkeys } from '../passkey/passkeys.ts';
import type { RecoveryCodes } from '../recovery-codes.ts';
import type { Enrollment, SecondFactors } from '../second-factor.ts';
import { waitText } from '../sign-in-routes.ts';
import { confirmedForm, confirmedPage, type SignedInVisit } from './signed-in-form.ts';

export interface SecondFactorRoutesDependencies {
  readonly browser: BrowserSessions;
  readonly secondFactors: SecondFactors;
  readonly recoveryCodes: RecoveryCodes;
  readonly passkeys: Passkeys;
  readonly audit: AuditStore;
}

const page = '/me/second-factor';
const wrongCode = 'Incorrect or already used code. Enter the next one from your app.';

/**
 * `GET /me/second-factor`: set up or remove an authenticator app, and create recovery codes. `POST …/begin` shows the
 * key, `POST …/confirm` takes a first code and shows recovery codes, or the same key again after a wrong one. `POST …/recovery-codes` creates new ones and `POST
 * …/remove` removes the app. All ask people to confirm who they are.
 */
export function registerSecondFactorRoutes(
  scope: Http,
  dependencies: SecondFactorRoutesDependencies,
): void {
  const { browser, secondFactors, recoveryCodes, passkeys, audit } = dependencies;

  async function showState(reply: FastifyReply, visit: SignedInVisit, error?: string) {
    const { personId } = visit.person;
    const [hasAuthenticator, list, remaining] = await Promise.all([
      secondFactors.hasAuthenticator(personId),
      passkeys.store.list(personId),
      recoveryCodes.countRemaining(personId),
    ]);
    return sendPage(
      reply,
      secondFactorStatePage({
        csrf: visit.csrf,
        hasAuthenticator,
        hasPasskey: list.length > 0,
        recoveryCodes: remaining,
        error,
        status: error === undefined ? 200 : 401,
      }),
    );
  }

  function showEnrollment(
    reply: FastifyReply,
    { csrf }: SignedInVisit,
    { secret, uri }: Enrollment,
    failure?: { readonly error: string; readonly status: number },
  ) {
    const picture = renderSVG(uri, { border: 2 });
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

  async function showNewCodes(request: FastifyRequest, reply: FastifyReply, visit: SignedInVisit) {
    const codes = await recoveryCodes.renew(visit.person.personId);
    if (codes.length === 0) return seeOther(reply, page);
    await record('recovery_codes_made', 'success', request, visit);
    return sendPage(reply, recoveryCodesPage(codes));
  }

  function record(
    kind: string,
    outcome: 'success' | 'refused',
    request: FastifyRequest,
    { person }: SignedInVisit,
  ): Promise<void> {
    return audit.record({ kind, outcome, personId: person.personId, origin: originOf(request) });
  }

  scope.get(page, (request, reply) =>
    confirmedPage(browser, (visit) => showState(reply, visit))(request, reply),
  );

  scope.post(
    `${page}/begin`,
    confirmedForm(browser, page, (_request, reply) => async (visit) => {
      const { email, personId } = visit.person;
      if (await secondFactors.hasAuthenticator(personId)) return seeOther(reply, page);
      return showEnrollment(reply, visit, await secondFactors.enroll(personId, email));
    }),
  );

  scope.post(
    `${page}/confirm`,
    confirmedForm(browser, page, (request, reply) => async (visit, form) => {
      const { personId, email } = visit.person;
      const isFirst = !(await secondFactors.has(personId));
      const failure = await tryFirstCode(request, personId, form.get('code') ?? '');
      if (failure !== undefined) {
        const pending = await secondFactors.resume(personId, email, form.get('secret') ?? '');
        if (pending === undefined) return showState(reply, visit, `${failure.error} Start again.`);
        if (failure.retryAfter !== undefined) reply.header('retry-after', failure.retryAfter);
        return showEnrollment(reply, visit, pending, failure);
      }
      await record('second_factor_added', 'success', request, visit);
      if (!isFirst) return seeOther(reply, '/me?done=authenticator');
      // The other browsers signed in with the password alone.
      await browser.endOthers(visit.person);
      return showNewCodes(request, reply, visit);
    }),
  );

  scope.post(
    `${page}/recovery-codes`,
    confirmedForm(
      browser,
      page,
      (request, reply) => (visit) => showNewCodes(request, reply, visit),
    ),
  );

  scope.post(
    `${page}/remove`,
    confirmedForm(browser, page, (request, reply) => async (visit) => {
      await secondFactors.remove(visit.person.personId);
      await record('second_factor_removed', 'success', request, visit);
      return seeOther(reply, '/me?done=removed');
    }),
  );
}
