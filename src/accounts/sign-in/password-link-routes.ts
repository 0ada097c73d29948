import type { FastifyReply, FastifyRequest } from 'fastify';
import { comparableAddress } from '../../base/values/email-address.ts';
import { html } from '../../base/values/html.ts';
import type { Http } from '../../host/http/create-http.ts';
import { SlowDown } from '../oauth/oauth-errors.ts';
import type { SessionContext } from '../session-context.ts';
import { HostCookie } from './browser/browser-sessions.ts';
import { findPasswordProblem } from './change-password.ts';
import { formOf, originOf } from './form.ts';
import { errorBox, messagePage, openForm, type Page, seeOther, sendPage } from './pages/layout.ts';
import { newPasswordField } from './pages/me-page.ts';
import { passwordScript } from './pages/page-script.ts';

/** Asks for the address to send a link to. */
function forgotPasswordPage(csrf: string, error?: string, status = 200): Page {
  const body = html`<h1>Reset your password</h1>
${errorBox(error)}
${openForm('/forgot-password', { csrf })}
<label for="email">Email address</label>
<input id="email" name="email" type="email" autocomplete="username" required maxlength="254" aria-describedby="what">
<p id="what" class="soft">We’ll email you a link if this address has a user.</p>
<div class="actions"><button type="submit">Send link</button></div>
</form>
<p class="foot"><a href="/sign-in">Back to sign-in</a></p>`;
  return { title: 'Reset your password', body, status };
}

/** Says the same for each address, whether or not it has a user. */
function linkSentPage(email: string): Page {
  const title = 'Check your email';
  const body = html`<h1>${title}</h1>
<p>If <strong>${email}</strong> has a user, a link to set a new password is on its way. It works for 30 minutes.</p>
<p class="soft">Didn’t get it? Check your spam folder, or <a href="/forgot-password">send it again</a>.</p>
<p class="foot"><a href="/sign-in">Back to sign-in</a></p>`;
  return { title, body };
}

/** Asks for a new password; the link has already been verified. */
function setPasswordPage(csrf: string, personal: readonly string[], error?: string): Page {
  const body = html`<h1>Choose a password</h1>
${errorBox(error)}
${openForm('/set-password', { csrf })}
${newPasswordField(personal)}
<p class="soft">This signs you out everywhere and revokes the access of all apps.</p>
<div class="actions"><button type="submit">Set password</button></div>
</form>`;
  const status = error === undefined ? 200 : 422;
  return { title: 'Choose a password', body, script: passwordScript, status };
}

const page = '/set-password';

const backToSignIn = { href: '/sign-in', label: 'Back to sign-in' };

const invalidLinkPage = messagePage(
  'Link expired',
  'It was already used, or it’s older than 30 minutes.',
  400,
  { href: '/forgot-password', label: 'Request a new link' },
  backToSignIn,
);

/**
 * `GET`, `POST /forgot-password`: sends a link, with the same response for every address. `GET /set-password/TOKEN`
 * moves the token from the URL to a cookie; `GET`, `POST /set-password` sets the new password.
 */
export function registerPasswordLinkRoutes(scope: Http, context: SessionContext): void {
  const { browser, devices, links, systemMailEnabled } = context;
  const cookie = new HostCookie('signalpost-link', browser);

  scope.get('/forgot-password', async (request, reply) => {
    const { csrf } = await browser.visit(request, reply);
    if (!systemMailEnabled)
      return sendPage(
        reply,
        messagePage(
          'Reset your password',
          'This service isn’t set up to send mail, so it can’t send a link. Ask an operator to set SYSTEM_MAIL_FROM.',
          200,
          backToSignIn,
        ),
      );
    return sendPage(reply, forgotPasswordPage(csrf));
  });

  scope.post('/forgot-password', (request, reply) => sendLink(context, request, reply));

  scope.get<{ Params: { token: string } }>(`${page}/:token`, async (request, reply) => {
    cookie.set(request, reply, request.params.token, 1_800);
    return seeOther(reply, page);
  });

  scope.get(page, async (request, reply) => {
    const person = await links.find(cookie.read(request));
    if (person === undefined) return sendPage(reply, invalidLinkPage);
    const { csrf } = await browser.visit(request, reply);
    return sendPage(reply, setPasswordPage(csrf, [person.email, person.name]));
  });

  scope.post(page, async (request, reply) => {
    const form = formOf(request);
    if (!browser.hasValidCsrfToken(request, form)) return seeOther(reply, page);
    const { csrf } = await browser.visit(request, reply);
    const person = await links.find(cookie.read(request));
    if (person === undefined) return sendPage(reply, invalidLinkPage);
    const password = form.get('new') ?? '';
    const personal = [person.email, person.name];
    const problem = await findPasswordProblem(password, personal);
    if (problem !== undefined) return sendPage(reply, setPasswordPage(csrf, personal, problem));
    const user = await links.use(cookie.read(request), password, originOf(request));
    if (user === undefined) return sendPage(reply, invalidLinkPage);
    cookie.remove(request, reply);
    // This person reads the account's mail, so other people's guesses must not delay the sign-in that follows.
    const { id: personId, email } = user;
    await devices.remember(request, reply, { personId, email, proof: 'own' });
    return sendPage(
      reply,
      messagePage('Password set', 'You can sign in with it now.', 200, {
        href: '/sign-in',
        label: 'Sign in',
      }),
    );
  });
}

async function sendLink(
  { browser, links, throttle }: SessionContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const form = formOf(request);
  const email = form.get('email') ?? '';
  if (!browser.hasValidCsrfToken(request, form)) return seeOther(reply, '/forgot-password');
  try {
    // Every request counts as a wrong guess, to prevent flooding an inbox and probing addresses.
    const origin = { kind: 'link', remoteAddress: request.ip } as const;
    await throttle.attempt(`link ${comparableAddress(email)}`, origin, async () => undefined);
  } catch (error) {
    if (!(error instanceof SlowDown)) throw error;
    const { csrf } = await browser.visit(request, reply);
    reply.header('retry-after', error.retryAfter);
    const text = 'Too many requests. Wait a while, then try again.';
    return sendPage(reply, forgotPasswordPage(csrf, text, 429));
  }
  links.request(email, originOf(request));
  return sendPage(reply, linkSentPage(email));
}
