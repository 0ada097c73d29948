import type { FastifyReply, FastifyRequest } from 'fastify';
import { renderSVG } from 'uqr';
import type { AuditStore } from '../../audit/audit-store.ts';
import type { Http } from '../../http/create-http.ts';
import type { BrowserSessions } from '../browser/browser-sessions.ts';
import { originOf } from '../form-body.ts';
import type { GuessOrigin } from '../login-throttle.ts';
import { seeOther, sendPage } from '../pages/layout.ts';
import { enrollPage, secondFactorStatePage } from '../pages/me-page.ts';
import { recoveryCodesPage } from '../pages/recovery-codes-page.ts';
import type { PasswordAuthenticator } from '../password-authenticator.ts';
import type { RecoveryCodes } from '../recovery-codes.ts';
import type { SecondFactors } from '../second-factor.ts';
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
 * `POST …/confirm` takes a first code and shows recovery codes. `POST …/recovery-codes` creates new ones and `POST
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
      const { secret, uri } = await secondFactors.enroll(personId, email);
      const picture = renderSVG(uri, { border: 2 });
      return sendPage(reply, enrollPage({ csrf: visit.csrf, secret, picture }));
    }),
  );

  scope.post(
    `${page}/confirm`,
    signedInForm(browser, page, (request, reply) => async (visit, form) => {
      const { personId } = visit.person;
      if (!(await secondFactors.verify(personId, form.get('code') ?? '', guessOriginOf(request))))
        return showState(reply, visit, `${wrongCode} Start again.`);
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
