import type { FastifyReply, FastifyRequest } from 'fastify';
import type { BrowserSession } from '../browser/browser-session-store.ts';
import type { BrowserSessions, BrowserVisit } from '../browser/browser-sessions.ts';
import type { Form } from '../form.ts';
import { formOf } from '../form-body.ts';
import { type Page, seeOther, sendPage } from '../pages/layout.ts';
import { messagePage } from '../pages/message-page.ts';
import { signInPath } from '../sign-in-routes.ts';

/** A visit by a signed-in person. */
export interface SignedInVisit extends BrowserVisit {
  readonly person: BrowserSession;
}

type Show = (visit: SignedInVisit) => Promise<FastifyReply>;
type Act = (visit: SignedInVisit, form: Form) => Promise<FastifyReply>;

/** Wraps a page that requires a sign-in; other visitors are sent to sign in and come back. */
export function signedInPage(browser: BrowserSessions, show: Show) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const visit = await browser.visit(request, reply);
    const { person } = visit;
    if (person === undefined) return seeOther(reply, signInPath(returnPath(request)));
    return show({ ...visit, person });
  };
}

/**
 * Wraps a form of such a page. A form that was not served to this browser in its current session has no effect: the
 * page is shown again.
 */
export function signedInForm(
  browser: BrowserSessions,
  page: string,
  act: (request: FastifyRequest, reply: FastifyReply) => Act,
) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const visit = await browser.visit(request, reply);
    const { person } = visit;
    const form = formOf(request);
    if (person === undefined || !browser.hasValidCsrfToken(request, form))
      return seeOther(reply, page);
    return act(request, reply)({ ...visit, person }, form);
  };
}

/** Longer ones would make a Location header that clients refuse. */
const maxReturnPath = 1_000;

/** What to come back to after signing in. */
function returnPath({ url }: Pick<FastifyRequest, 'url'>): string {
  return url.length > maxReturnPath ? '/me' : url;
}

/**
 * Whether a session comes from an account's provider. It acts in that account only, and changes nothing about how the person
 * signs in, because the account's owners could sign in as anyone with it.
 */
export function isBoundToAccount({ reach }: Pick<BrowserSession, 'reach'>): boolean {
  return reach !== 'all';
}

/** Shown instead of changes that a session of an account's provider can't make. */
export function boundSessionPage(): Page {
  const text =
    'You signed in with your account’s provider. To change how you sign in, sign in with your password or a passkey.';
  return messagePage('Sign in another way', text, 403, { href: '/me', label: 'Back' });
}

/** Where people confirm who they are before a sensitive change, and what they continue with. */
function confirmPath(next: string): string {
  return `/sign-in/confirm?${new URLSearchParams({ next })}`;
}

/** A `signedInPage` for sensitive changes: people who haven't confirmed who they are recently do so first. */
export function confirmedPage(browser: BrowserSessions, show: Show) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> =>
    signedInPage(browser, async (visit) => {
      if (isBoundToAccount(visit.person)) return sendPage(reply, boundSessionPage());
      return visit.person.recentlyConfirmed
        ? show(visit)
        : seeOther(reply, confirmPath(returnPath(request)));
    })(request, reply);
}

/** A `signedInForm` for sensitive changes; after confirming, people start again at `page`. */
export function confirmedForm(
  browser: BrowserSessions,
  page: string,
  act: (request: FastifyRequest, reply: FastifyReply) => Act,
) {
  return signedInForm(browser, page, (request, reply) => async (visit, form) => {
    if (isBoundToAccount(visit.person)) return sendPage(reply, boundSessionPage());
    return visit.person.recentlyConfirmed
      ? act(request, reply)(visit, form)
      : seeOther(reply, confirmPath(page));
  });
}
