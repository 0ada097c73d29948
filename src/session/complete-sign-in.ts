import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PersonId } from '../foundation/ids.ts';
import type { BrowserSessions } from './browser/browser-sessions.ts';
import type { KnownDevices } from './browser/known-devices.ts';
import type { SignInNotices } from './sign-in-notices.ts';

export interface CompleteSignInDependencies {
  readonly browser: BrowserSessions;
  readonly devices: KnownDevices;
  readonly notices: SignInNotices;
}

/** Signs in a person who proved who they are, remembers the browser, and tells them if it is a new one. */
export async function completeSignIn(
  { browser, devices, notices }: CompleteSignInDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  { personId, email }: { readonly personId: PersonId; readonly email: string },
): Promise<void> {
  const isKnown = devices.read(request, email) !== undefined;
  await browser.signIn(request, reply, personId, true);
  devices.remember(request, reply, email);
  if (!isKnown) await notices.newBrowser(personId, request);
}
