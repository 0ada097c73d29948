import type { FastifyReply } from 'fastify';
import { type Html, html } from '../../../base/values/html.ts';
import type { Http } from '../../../host/http/create-http.ts';
import { SlowDown, TemporarilyUnavailable } from '../../oauth/oauth-errors.ts';
import type { SessionContext } from '../../session-context.ts';
import type { FormCall, PageCall } from '../browser/page-door.ts';
import { localPath } from '../local-path.ts';
import {
  errorBox,
  openForm,
  orLine,
  type Page,
  type StepPage,
  seeOther,
  sendPage,
} from '../pages/layout.ts';
import { passkeyScript } from '../pages/page-script.ts';
import { passkeyForm } from '../pages/passkey-pages.ts';
import type { PasskeyPrompt } from '../passkey/passkeys.ts';
import { passkeyFailedText, queryOf, waitText } from '../sign-in-routes.ts';
import { signInFailureText } from '../single-sign-on/sign-in-failures.ts';

interface ConfirmPage extends StepPage {
  /** Undefined: the person has no passkey. */
  readonly prompt: PasskeyPrompt | undefined;
  /** The person's address, and whether a code is required after the password; undefined: no password confirms this session. */
  readonly ownPassword: { readonly email: string; readonly needsCode: boolean } | undefined;
  /** The name of the provider that the person signed in with. */
  readonly providerName: string | undefined;
}

/** Asks a signed-in person for their passkey, or password and code, before a sensitive change. */
function confirmPage(page: ConfirmPage): Page {
  const { csrf, next, prompt, ownPassword, providerName, error } = page;
  const passkey =
    prompt && passkeyForm({ prompt, action: '/sign-in/confirm', csrf, next, label: 'Use passkey' });
  const withProvider =
    providerName &&
    html`<div class="actions"><a class="button" href="/sign-in/confirm/oidc?${new URLSearchParams({ next }).toString()}">Continue with ${providerName}</a></div>`;
  const isOnly = passkey === undefined && withProvider === undefined;
  const title = 'Confirm it’s you';
  const body = html`<h1>${title}</h1>
${errorBox(error)}
<p>This protects a sensitive change. You won’t be asked again for 10 minutes.</p>
${withProvider}
${passkey}
${ownPassword === undefined ? '' : passwordForm(page, ownPassword, isOnly)}
<div class="foot">${ownPassword === undefined ? '' : html`<p><a href="/forgot-password">Forgot password?</a></p>`}
<p><a href="/me">Back to sign-in and security</a></p></div>`;
  return { title, body, ...(prompt && { script: passkeyScript }), status: page.status ?? 200 };
}

function passwordForm(
  { csrf, next, error }: ConfirmPage,
  { email, needsCode }: NonNullable<ConfirmPage['ownPassword']>,
  isOnly: boolean,
): Html {
  const code = html`<label for="code">6-digit code or recovery code</label>
<input id="code" name="code" type="text" autocomplete="one-time-code" maxlength="40" required>`;
  return html`${isOnly ? '' : orLine}
${openForm('/sign-in/confirm', { csrf, next })}
<input type="hidden" autocomplete="username" value="${email}">
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required${error === undefined ? '' : html` aria-invalid="true" aria-describedby="problem"`}>
${needsCode ? code : ''}
<div class="actions"><button type="submit"${isOnly ? '' : html` class="quiet"`}>Continue</button></div>
</form>`;
}

/** The end of a confirmation in a separate window, which its script closes. */
function afterConfirmPage(): Page {
  const title = 'Confirmed';
  const body = html`<h1>${title}</h1>
<p data-confirmed>You can close this window.</p>
<p class="foot"><a href="/console">Go to the console</a></p>`;
  return { title, body, script: passkeyScript };
}

/** A signed-in person proves again who they are by the password, and a code if they have a second factor. */
async function checkPassword(
  { passwordAuthenticator, secondFactors, recoveryCodes }: SessionContext,
  { request, person, form }: FormCall,
): Promise<boolean> {
  const { personId, email } = person;
  const code = form.get('code') ?? '';
  const origin = { kind: 'session', remoteAddress: request.ip } as const;
  const password = form.get('password') ?? '';
  const result = await passwordAuthenticator.authenticate(email, password, origin);
  if (result.person?.id !== personId) return false;
  if (!(await secondFactors.has(personId))) return true;
  // Six digits come from the authenticator app; anything else can only be a recovery code.
  return /^[\d ]+$/.test(code)
    ? secondFactors.verify(personId, code, origin)
    : recoveryCodes.consume(personId, code, origin);
}

/**
 * Checks who uses a session before a sensitive change, by a passkey's response or else the password. It takes as much as signing in.
 * @throws SlowDown if guesses come too fast, TemporarilyUnavailable if too many passwords are waiting
 */
async function checkWho(
  context: SessionContext,
  call: FormCall,
  passkey: string | undefined,
): Promise<boolean> {
  const { personId } = call.person;
  const scope = { purpose: 'confirm', csrf: call.csrf, personId } as const;
  const isRight =
    passkey === undefined
      ? await checkPassword(context, call)
      : (await context.passkeys.verify(scope, passkey)) === personId;
  await call.record('sign_in_confirmed', {
    outcome: isRight ? 'success' : 'refused',
    detail: passkey === undefined ? {} : { passkey: true },
  });
  return isRight;
}

const noPasswordText =
  'You signed in with your account’s provider. Continue with it, or use a passkey.';

/**
 * `GET` and `POST /sign-in/confirm`: a signed-in person proves again who they are, by passkey, by password and
 * code, or by the provider they signed in with (`GET /sign-in/confirm/oidc`), and continues to the local path `next` (ASVS 3.7.1).
 * A session of an account's provider can't be confirmed by password. `GET /me/confirmed` tells the console, whose window stays open meanwhile.
 */
export function registerConfirmRoutes(scope: Http, context: SessionContext): void {
  const { browser, door, passkeys, secondFactors, providers } = context;

  async function show(
    { reply, csrf, person }: PageCall,
    next: string,
    failure: { readonly error?: string; readonly status?: number } = {},
  ): Promise<FastifyReply> {
    const { personId, email } = person;
    const [prompt, needsCode, provider] = await Promise.all([
      passkeys.prompt({ purpose: 'confirm', csrf, personId }),
      secondFactors.has(personId),
      providers.findOf(person),
    ]);
    const ownPassword = person.reach === 'all' ? { email, needsCode } : undefined;
    return sendPage(
      reply,
      confirmPage({ csrf, next, prompt, ownPassword, providerName: provider?.name, ...failure }),
    );
  }

  door.page(scope, '/sign-in/confirm', { access: 'signed-in' }, async (call) => {
    const next = localPath(queryOf(call.request, 'next'));
    if (call.person.recentlyConfirmed) return seeOther(call.reply, next);
    const error = signInFailureText(queryOf(call.request, 'failed'));
    return show(call, next, error === undefined ? {} : { error });
  });

  door.page(scope, '/me/confirmed', { access: 'signed-in' }, async ({ reply }) =>
    sendPage(reply, afterConfirmPage()),
  );

  door.form(scope, '/sign-in/confirm', { access: 'signed-in' }, async (call) => {
    const { request, reply, form } = call;
    const next = localPath(form.get('next'));
    const passkey = form.get('answer');
    // Whoever runs an account's provider could guess the password here.
    if (passkey === undefined && call.person.reach !== 'all')
      return show(call, next, { error: noPasswordText, status: 403 });
    try {
      if (!(await checkWho(context, call, passkey))) {
        const error = passkey === undefined ? 'Incorrect password or code.' : passkeyFailedText;
        return show(call, next, { error, status: 401 });
      }
    } catch (error) {
      if (!(error instanceof SlowDown || error instanceof TemporarilyUnavailable)) throw error;
      reply.header('retry-after', error.retryAfter);
      return show(call, next, {
        error: waitText(error.retryAfter),
        status: error.status,
      });
    }
    await browser.renew(request, reply, true);
    return seeOther(reply, next);
  });
}
