import { html } from '../../foundation/html.ts';
import { errorBox } from './boxes.ts';
import type { Page } from './layout.ts';
import { newPasswordField } from './me-page.ts';
import { passwordScript } from './page-script.ts';

/** Asks for the address to send a link to. */
export function forgotPasswordPage(csrf: string, error?: string, status = 200): Page {
  const body = html`<h1>Reset your password</h1>
${errorBox(error)}
<form method="post" action="/forgot-password">
<input type="hidden" name="csrf" value="${csrf}">
<label for="email">Email address</label>
<input id="email" name="email" type="email" autocomplete="username" required maxlength="254" aria-describedby="what">
<p id="what" class="soft">We’ll email you a link if this address has a user.</p>
<div class="actions"><button type="submit">Send link</button></div>
</form>
<p class="foot"><a href="/sign-in">Back to sign-in</a></p>`;
  return { title: 'Reset your password', body, status };
}

/** Says the same for each address, whether or not it has a user. */
export function linkSentPage(email: string): Page {
  const title = 'Check your email';
  const body = html`<h1>${title}</h1>
<p>If <strong>${email}</strong> has a user, a link to set a new password is on its way. It works for 30 minutes.</p>
<p class="soft">Didn’t get it? Check your spam folder, or <a href="/forgot-password">send it again</a>.</p>
<p class="foot"><a href="/sign-in">Back to sign-in</a></p>`;
  return { title, body };
}

/** Asks for a new password; the link has already been verified. */
export function setPasswordPage(csrf: string, personal: readonly string[], error?: string): Page {
  const body = html`<h1>Choose a password</h1>
${errorBox(error)}
<form method="post" action="/set-password">
<input type="hidden" name="csrf" value="${csrf}">
${newPasswordField(personal)}
<p class="soft">This signs you out everywhere and revokes the access of all apps.</p>
<div class="actions"><button type="submit">Set password</button></div>
</form>`;
  const status = error === undefined ? 200 : 422;
  return { title: 'Choose a password', body, script: passwordScript, status };
}
