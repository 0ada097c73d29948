import type { FastifyReply, FastifyRequest } from 'fastify';
import { readPerson } from '../../account/person-store.ts';
import type { Http } from '../../http/create-http.ts';
import { withOwnSecondFactor } from '../browser/browser-session-store.ts';
import { completeSignIn } from '../complete-sign-in.ts';
import { formOf, originOf } from '../form.ts';
import { localPath, signInPath } from '../local-path.ts';
import { seeOther } from '../pages/layout.ts';
import type { SessionContext } from '../session-context.ts';

/** `POST /sign-in/passkey`: signs in with a passkey, alone or after the password, and continues to the local path `next`. */
export function registerSignInPasskeyRoutes(scope: Http, context: SessionContext): void {
  scope.post('/sign-in/passkey', (request, reply) => signInWithPasskey(context, request, reply));
}

async function signInWithPasskey(
  { database, browser, devices, passkeys, notices, audit, mustUseProvider }: SessionContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const form = formOf(request);
  const next = localPath(form.get('next'));
  const visit = await browser.visit(request, reply);
  if (visit.isSignedIn) return seeOther(reply, next);
  if (!browser.hasValidCsrfToken(request, form)) return seeOther(reply, signInPath(next));
  const { csrf, awaitingSecondFactor: halfway } = visit;
  const record = (outcome: 'success' | 'refused', personId: string) =>
    audit.record({
      kind: 'sign_in',
      outcome,
      personId,
      origin: originOf(request),
      detail: { passkey: true, ...(halfway === undefined ? {} : { secondFactor: true }) },
    });
  const response = form.get('answer') ?? '';
  const personId =
    halfway === undefined
      ? await passkeys.verify({ purpose: 'sign-in', csrf }, response)
      : await passkeys.verify(
          { purpose: 'second-factor', csrf, personId: halfway.personId },
          response,
        );
  const person = personId && (await readPerson(database.kysely, personId));
  if (person === undefined) {
    // Strangers can't fill the audit log.
    if (halfway !== undefined) await record('refused', halfway.personId);
    const page = halfway === undefined ? '/sign-in' : '/sign-in/code';
    return seeOther(reply, `${page}?${new URLSearchParams({ next, failed: 'passkey' })}`);
  }
  // After a sign-in with a provider, the passkey is the second factor.
  if (halfway?.identityId === undefined && (await mustUseProvider(person))) {
    await record('refused', person.id);
    return seeOther(reply, `/sign-in?${new URLSearchParams({ next, failed: 'needs-provider' })}`);
  }
  const signedIn = {
    personId: person.id,
    email: person.email,
    provider: halfway && withOwnSecondFactor(halfway),
  };
  await completeSignIn({ browser, devices, notices }, request, reply, signedIn);
  await record('success', person.id);
  return seeOther(reply, next);
}
