import type { FastifyRequest } from 'fastify';
import { type Html, html } from '../../base/values/html.ts';
import { isLonger } from '../../base/values/is-longer.ts';
import type { Http } from '../../host/http/create-http.ts';
import type { SessionContext } from '../session-context.ts';
import { HostCookie, preferredLocale } from '../sign-in/browser/browser-sessions.ts';
import { findPasswordProblem } from '../sign-in/change-password.ts';
import { formOf, originOf } from '../sign-in/form.ts';
import {
  errorBox,
  type FormPage,
  messagePage,
  openForm,
  type Page,
  seeOther,
  sendPage,
} from '../sign-in/pages/layout.ts';
import { newPasswordField } from '../sign-in/pages/me-page.ts';
import { passwordScript } from '../sign-in/pages/page-script.ts';
import { invitationDays, type OpenInvitation } from './invitation-store.ts';

interface InvitationPage extends FormPage {
  readonly invitation: OpenInvitation;
  readonly name?: string | undefined;
}

/** Shows who invites to which account, and asks for a password if the person hasn't set one themselves. */
function invitationPage({ csrf, invitation, name, error }: InvitationPage): Page {
  const { accountName, accountId, email, role, inviterName, inviterEmail } = invitation;
  const body = html`<h1>Join ${accountName}?</h1>
${errorBox(error)}
<p>${inviterName} (${inviterEmail}) invited ${email} to join the account ${accountName} (ID ${accountId}) as ${role === 'owner' ? 'an' : 'a'} ${role}.</p>
${openForm('/invitation', { csrf })}
${invitation.established ? html`<p class="soft">You keep your password and sign in as before.</p>` : newSignIn(invitation, name)}
<div class="actions equal"><button type="submit">Accept</button>
<button type="submit" class="quiet first" formaction="/invitation/decline" formnovalidate>Decline</button></div>
</form>`;
  const status = error === undefined ? 200 : 422;
  return { title: 'Invitation', body, script: passwordScript, status };
}

function newSignIn({ personId, name, email }: OpenInvitation, typed: string | undefined): Html {
  const nameField = html`<label for="name">Your name</label>
<input id="name" name="name" type="text" autocomplete="name" maxlength="200" required value="${typed ?? name ?? ''}">`;
  return html`${personId === null ? nameField : ''}
<input type="hidden" autocomplete="username" value="${email}">
${newPasswordField([email, name ?? ''])}
${personId === null ? '' : html`<p class="soft">Any earlier password for this address stops working, and you’re signed out everywhere.</p>`}`;
}

const page = '/invitation';
const maxNameLength = 200;

const invalidInvitationPage = messagePage(
  'Invitation no longer valid',
  `It was used or withdrawn, or it’s older than ${invitationDays} days. Ask the person who invited you for a new one.`,
  400,
  { href: '/sign-in', label: 'Go to sign-in' },
);

/**
 * `GET /invitation/TOKEN` moves the token from the URL to a cookie. `GET /invitation` shows the invitation, `POST`
 * accepts it, `POST /invitation/decline` declines it.
 */
export function registerInvitationRoutes(scope: Http, context: SessionContext): void {
  const { browser, door, invitations } = context;
  const cookie = new HostCookie('signalpost-invitation', browser);

  scope.get<{ Params: { token: string } }>(`${page}/:token`, async (request, reply) => {
    cookie.set(request, reply, request.params.token, 3_600);
    return seeOther(reply, page);
  });

  scope.get(page, async (request, reply) => {
    const invitation = await invitations.find(cookie.read(request));
    if (invitation === undefined) return sendPage(reply, invalidInvitationPage);
    const { csrf } = await browser.visit(request, reply);
    if (await needsSignIn(request, invitation)) return sendPage(reply, signInRequiredPage);
    return sendPage(reply, invitationPage({ csrf, invitation }));
  });

  scope.post(page, async (request, reply) => {
    const form = formOf(request);
    if (!browser.hasValidCsrfToken(request, form)) return seeOther(reply, page);
    const token = cookie.read(request);
    const invitation = await invitations.find(token);
    if (invitation === undefined) return sendPage(reply, invalidInvitationPage);
    const { csrf } = await browser.visit(request, reply);
    if (await needsSignIn(request, invitation)) return sendPage(reply, signInRequiredPage);
    const name = (form.get('name') ?? '').trim();
    const password = form.get('new') ?? '';
    const error = invitation.established
      ? undefined
      : (nameProblem(name) ?? (await findPasswordProblem(password, [invitation.email, name])));
    if (error !== undefined)
      return sendPage(reply, invitationPage({ csrf, invitation, name, error }));
    const accepted = await invitations.accept(token, {
      name,
      password: invitation.established ? undefined : password,
      locale: preferredLocale(request),
      origin: originOf(request),
    });
    if (!accepted) return sendPage(reply, invalidInvitationPage);
    cookie.remove(request, reply);
    return sendPage(
      reply,
      messagePage('You’ve joined', `You can now work in ${invitation.accountName}.`, 200, {
        href: '/sign-in',
        label: 'Sign in',
      }),
    );
  });

  scope.post(`${page}/decline`, async (request, reply) => {
    if (!browser.hasValidCsrfToken(request, formOf(request))) return seeOther(reply, page);
    await invitations.decline(cookie.read(request), originOf(request));
    cookie.remove(request, reply);
    return sendPage(reply, messagePage('Invitation declined', 'Nothing has changed.'));
  });

  /**
   * A mailed link alone never bypasses a second factor: if it would set the password of someone who has one, that
   * person must be signed in.
   */
  async function needsSignIn(
    request: FastifyRequest,
    invitation: OpenInvitation,
  ): Promise<boolean> {
    const { established, hasSecondFactor, personId } = invitation;
    if (established || !hasSecondFactor) return false;
    const signedIn = await door.find(request, { access: 'full-reach' });
    return signedIn?.personId !== personId;
  }
}

const signInRequiredPage = messagePage(
  'Sign in first',
  'You use a second factor. Sign in, then open the invitation link again. If you can’t, ask an operator to remove your second factor.',
  403,
  { href: `/sign-in?${new URLSearchParams({ next: page })}`, label: 'Sign in' },
);

function nameProblem(name: string): string | undefined {
  return isLonger(name, maxNameLength)
    ? `Enter a name of at most ${maxNameLength} characters.`
    : undefined;
}
