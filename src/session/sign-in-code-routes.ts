import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PersonId } from '../foundation/ids.ts';
import type { Http } from '../http/create-http.ts';
import type { AuditStore } from './audit-store.ts';
import type { Browser } from './browser/browser.ts';
import type { KnownDevices } from './browser/known-devices.ts';
import { formOf, originOf } from './form-body.ts';
import { localAddress } from './local-address.ts';
import type { GuessOrigin } from './login-throttle.ts';
import { SlowDown } from './oauth-errors.ts';
import { type Page, seeOther, sendPage } from './pages/layout.ts';
import { recoveryCodePage } from './pages/recovery-codes-page.ts';
import { secondFactorPage } from './pages/sign-in-page.ts';
import type { RecoveryCodes } from './recovery-codes.ts';
import type { SecondFactors } from './second-factor.ts';
import { queryOf, signInAddress, waitText } from './sign-in-routes.ts';

export interface SignInCodeParts {
  readonly browser: Browser;
  readonly devices: KnownDevices;
  readonly secondFactors: SecondFactors;
  readonly recoveryCodes: RecoveryCodes;
  readonly audit: AuditStore;
}

/** One way to prove the second factor. */
interface Way {
  readonly path: string;
  readonly page: (page: {
    readonly csrf: string;
    readonly next: string;
    readonly error?: string;
    readonly status?: number;
  }) => Page;
  readonly wrong: string;
  /** What the audit log says beside the sign-in. */
  readonly detail: Readonly<Record<string, boolean>>;
  prove(personId: PersonId, code: string, origin: GuessOrigin): Promise<boolean>;
}

/**
 * `GET` and `POST /sign-in/code`: the second factor of somebody who gave the right password;
 * `GET` and `POST /sign-in/recovery-code`: a recovery code in its place. Both lead on to the local address `next`.
 */
export function registerSignInCodeRoutes(scope: Http, parts: SignInCodeParts): void {
  const { browser, secondFactors, recoveryCodes } = parts;
  const ways: readonly Way[] = [
    {
      path: '/sign-in/code',
      page: secondFactorPage,
      wrong: 'The code is wrong or was already used. Wait for the next one.',
      detail: { secondFactor: true },
      prove: (...guess) => secondFactors.verify(...guess),
    },
    {
      path: '/sign-in/recovery-code',
      page: recoveryCodePage,
      wrong: 'The recovery code is wrong or was already used.',
      detail: { secondFactor: true, recoveryCode: true },
      prove: (...guess) => recoveryCodes.spend(...guess),
    },
  ];
  for (const way of ways) {
    scope.get(way.path, async (request, reply) => {
      const next = localAddress(queryOf(request, 'next'));
      const { csrf, person, halfway } = await browser.visit(request, reply);
      if (person !== undefined) return seeOther(reply, next);
      if (halfway === undefined) return seeOther(reply, signInAddress(next));
      return sendPage(reply, way.page({ csrf, next }));
    });
    scope.post(way.path, (request, reply) => giveCode(parts, way, request, reply));
  }
}

async function giveCode(
  { browser, devices, audit }: SignInCodeParts,
  way: Way,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const form = formOf(request);
  const next = localAddress(form.get('next'));
  const { csrf, person, halfway } = await browser.visit(request, reply);
  if (person !== undefined) return seeOther(reply, next);
  if (halfway === undefined || !browser.isOwnForm(request, form))
    return seeOther(reply, signInAddress(next));
  const { personId, email } = halfway;
  const guess = {
    kind: 'sign-in',
    remoteAddress: request.ip,
    device: devices.read(request, email),
  } as const;
  const origin = originOf(request);
  const record = (outcome: 'success' | 'refused') =>
    audit.record({ kind: 'sign_in', outcome, personId, origin, detail: way.detail });
  const again = (error: string, status: number) =>
    sendPage(reply, way.page({ csrf, next, error, status }));
  try {
    if (!(await way.prove(personId, form.get('code') ?? '', guess))) {
      await record('refused');
      return again(way.wrong, 401);
    }
  } catch (error) {
    if (!(error instanceof SlowDown)) throw error;
    reply.header('retry-after', error.retryAfter);
    return again(waitText(error.retryAfter), error.status);
  }
  await browser.signIn(request, reply, personId, true);
  devices.remember(request, reply, email);
  await record('success');
  return seeOther(reply, next);
}
