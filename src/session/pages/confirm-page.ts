import { type Html, html } from '../../foundation/html.ts';
import type { PasskeyPrompt } from '../passkey/passkeys.ts';
import { errorBox, orLine } from './boxes.ts';
import type { Page } from './layout.ts';
import { passkeyScript } from './page-script.ts';
import { passkeyForm } from './passkey-form.ts';

export interface ConfirmPage {
  readonly csrf: string;
  /** The local path to go to afterwards. */
  readonly next: string;
  /** Undefined: the person has no passkey. */
  readonly prompt: PasskeyPrompt | undefined;
  /** The person's address, and whether a code is required after the password; undefined: no password confirms this session. */
  readonly ownPassword: { readonly email: string; readonly needsCode: boolean } | undefined;
  /** The name of the provider that the person signed in with. */
  readonly providerName: string | undefined;
  readonly error?: string | undefined;
  readonly status?: number;
}

/** Asks a signed-in person for their passkey, or password and code, before a sensitive change. */
export function confirmPage(page: ConfirmPage): Page {
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
<form method="post" action="/sign-in/confirm">
<input type="hidden" name="csrf" value="${csrf}"><input type="hidden" name="next" value="${next}">
<input type="hidden" autocomplete="username" value="${email}">
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required${error === undefined ? '' : html` aria-invalid="true" aria-describedby="problem"`}>
${needsCode ? code : ''}
<div class="actions"><button type="submit"${isOnly ? '' : html` class="quiet"`}>Continue</button></div>
</form>`;
}

/** The end of a confirmation in a separate window, which its script closes. */
export function afterConfirmPage(): Page {
  const title = 'Confirmed';
  const body = html`<h1>${title}</h1>
<p data-confirmed>You can close this window.</p>
<p class="foot"><a href="/console">Go to the console</a></p>`;
  return { title, body, script: passkeyScript };
}
