import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Http } from '../../../host/http/create-http.ts';
import { readPerson } from '../../account/person-store.ts';
import type { SessionContext } from '../../session-context.ts';
import { withOwnSecondFactor } from '../browser/browser-session-store.ts';
import { completeSignIn } from '../complete-sign-in.ts';
import { formOf, recordRequest } from '../form.ts';
import { localPath, signInPath } from '../local-path.ts';
import { seeOther } from '../pages/layout.ts';
import { mustUseProvider } from '../single-sign-on/account-provider-store.ts';

/** `POST /sign-in/passkey`: signs in with a passkey, alone or after the password, and continues to the local path `next`. */
export function registerSignInPasskeyRoutes(scope: Http, context: SessionContext): void {
  scope.post('/sign-in/passkey', (request, reply) => signInWithPasskey(context, request, reply));
}

async function signInWithPasskey(
  context: SessionContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { database, browser, passkeys, facts } = context;
  const form = formOf(request);
  const next = localPath(form.get('next'));
  const visit = await browser.visit(request, reply);
  if (visit.isSignedIn) return seeOther(reply, next);
  if (!browser.hasValidCsrfToken(request, form)) return seeOther(reply, signInPath(next));
  const { csrf, awaitingSecondFactor: halfway } = visit;
  const detail = { passkey: true, ...(halfway && { secondFactor: true }) };
  const record = (outcome: 'success' | 'refused', personId: string) =>
    recordRequest(database, request, { kind: 'sign_in', outcome, personId, detail });
  const purpose = halfway === undefined ? 'sign-in' : 'second-factor';
  const scope = { purpose, csrf, personId: halfway?.personId } as const;
  const personId = await passkeys.verify(scope, form.get('answer') ?? '');
  const person = personId && (await readPerson(database.kysely, personId));
  if (person === undefined) {
    // Strangers can't fill the audit log.
    if (halfway !== undefined) await record('refused', halfway.personId);
    const page = halfway === undefined ? '/sign-in' : '/sign-in/code';
    return seeOther(reply, `${page}?${new URLSearchParams({ next, failed: 'passkey' })}`);
  }
  // After a sign-in with a provider, the passkey is the second factor.
  if (
    halfway?.identityId === undefined &&
    (await mustUseProvider(database.kysely, person.id, facts.provider))
  ) {
    await record('refused', person.id);
    return seeOther(reply, `/sign-in?${new URLSearchParams({ next, failed: 'needs-provider' })}`);
  }
  const signedIn = {
    personId: person.id,
    email: person.email,
    provider: halfway && withOwnSecondFactor(halfway),
  };
  await completeSignIn(context, request, reply, signedIn);
  await record('success', person.id);
  return seeOther(reply, next);
}
