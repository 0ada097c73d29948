import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PersonId } from '../../base/values/ids.ts';
import type { SessionContext } from '../session-context.ts';
import type { ProviderSignIn } from './browser/browser-session-store.ts';

/** Who signs in. */
interface CompletedSignIn {
  readonly personId: PersonId;
  readonly email: string;
  /** The sign-in with a provider, if that is how the person signed in. */
  readonly provider?: ProviderSignIn | undefined;
}

/** Signs in a person who proved who they are, remembers the browser, and tells them if it is a new one. */
export async function completeSignIn(
  { browser, devices, notices }: SessionContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { personId, email, provider }: CompletedSignIn,
): Promise<void> {
  const proof =
    provider === undefined
      ? 'own'
      : provider.reach === 'all'
        ? 'installation'
        : (`account ${provider.reach.accountId}` as const);
  const isKnown = (await devices.read(request, email, proof)) !== undefined;
  await browser.signIn(request, reply, personId, provider);
  await devices.remember(request, reply, { personId, email, proof });
  if (!isKnown) await notices.newBrowser(personId, request);
}
