import type { FastifyReply, FastifyRequest } from 'fastify';
import { renderSVG } from 'uqr';
import type { AuditStore } from '../../audit/audit-store.ts';
import type { PersonId } from '../../foundation/ids.ts';
import type { Http } from '../../http/create-http.ts';
import type { BrowserSessions } from '../browser/browser-sessions.ts';
import { originOf } from '../form-body.ts';
import type { GuessOrigin } from '../login-throttle.ts';
import { SlowDown } from '../oauth-errors.ts';
import { seeOther, sendPage } from '../pages/layout.ts';
import { enrollPage, secondFactorStatePage } from '../pages/me-page.ts';
import { recoveryCodesPage } from '../pages/recovery-codes-page.ts';
import type { PasswordAuthenticator } from '../password-authenticator.ts';
import type { RecoveryCodes } from '../recovery-codes.ts';
import type { Enrollment, SecondFactors } from '../second-factor.ts';
import { waitText } from '../sign-in-routes.ts';
import { type SignedInVisit, signedInForm, signedInPage } from './signed-in-form.ts';

export interface SecondFactorRoutesDependencies {
  readonly browser: BrowserSessions;
  readonly passwordAuthenticator: PasswordAuthenticator;
  readonly secondFactors: SecondFactors;
  readonly recoveryCodes: RecoveryCodes;
  readonly audit: AuditStore;
}

const page = '/me/second-factor';
const wrongCode = 'The code is wrong or was already used. Wait for the next one.';

/**
 * `GET /me/second-factor`: add or manage the second factor. `POST …/begin` takes the password and shows the key,
 * `POST …/confirm` takes a first code and shows recovery codes, or the same key again after a wrong code. `POST …/recovery-codes` creates new ones and `POST
 * …/remove` removes the factor; both take a code or recovery code.
 */
export function registerSecondFactorRoutes(
  scope: Http,
  dependencies: SecondFactorRoutesDependencies,
): void {
  const { browser, passwordAuthenticator, secondFactors, recoveryCodes, audit } = dependencies;

  async function showState(reply: FastifyReply, visit: SignedInVisit, error?: string) {
    const { personId } = visit.person;
    const [enrolled, remaining] = await Promise.all([
      secondFactors.has(personId),
      recoveryCodes.countRemaining(personId),
    ]);
    const status = error === undefined ? 200 : 401;
    return sendPage(
      reply,
      secondFactorStatePage({
        csrf: visit.csrf,
        enrolled,
        recoveryCodes: remaining,
        error,
        status,
      }),
    );
  }

  /** Six digits come from the authenticator; anything else can only be a recovery code. */
  function verifyCode(request: FastifyRequest, { person }: SignedInVisit, code: string) {
    return /^[\d ]+$/.test(code)
      ? secondFactors.verify(person.personId, code, guessOriginOf(request))
      : recoveryCodes.consume(person.personId, code, guessOriginOf(request));
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
    try {
      const isRight = await secondFactors.verify(personId, code, guessOriginOf(request));
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
    signedInPage(browser, (visit) => showState(reply, visit))(request, reply),
  );

  scope.post(
    `${page}/begin`,
    signedInForm(browser, page, (request, reply) => async (visit, form) => {
      const { email, personId } = visit.person;
      if (await secondFactors.has(personId)) return seeOther(reply, page);
      const result = await passwordAuthenticator.authenticate(
        email,
        form.get('password') ?? '',
        guessOriginOf(request),
      );
      if (result.person === undefined) return showState(reply, visit, 'The password is wrong.');
      return showEnrollment(reply, visit, await secondFactors.enroll(personId, email));
    }),
  );

  scope.post(
    `${page}/confirm`,
    signedInForm(browser, page, (request, reply) => async (visit, form) => {
      const { personId, email } = visit.person;
      const failure = await tryFirstCode(request, personId, form.get('code') ?? '');
      if (failure !== undefined) {
        const pending = await secondFactors.resume(personId, email, form.get('secret') ?? '');
        if (pending === undefined) return showState(reply, visit, `${failure.error} Start again.`);
        if (failure.retryAfter !== undefined) reply.header('retry-after', failure.retryAfter);
        return showEnrollment(reply, visit, pending, failure);
      }
      await record('second_factor_added', 'success', request, visit);
      return showNewCodes(request, reply, visit);
    }),
  );

  scope.post(
    `${page}/recovery-codes`,
    signedInForm(browser, page, (request, reply) => async (visit, form) => {
      if (await verifyCode(request, visit, form.get('code') ?? ''))
        return showNewCodes(request, reply, visit);
      await record('recovery_codes_made', 'refused', request, visit);
      return showState(reply, visit, wrongCode);
    }),
  );

  scope.post(
    `${page}/remove`,
    signedInForm(browser, page, (request, reply) => async (visit, form) => {
      const { personId } = visit.person;
      if (!(await verifyCode(request, visit, form.get('code') ?? ''))) {
        await record('second_factor_removed', 'refused', request, visit);
        return showState(reply, visit, wrongCode);
      }
      await secondFactors.remove(personId);
      await record('second_factor_removed', 'success', request, visit);
      return seeOther(reply, '/me?done=removed');
    }),
  );
}

function guessOriginOf(request: FastifyRequest): GuessOrigin {
  return { kind: 'session', remoteAddress: request.ip };
}
