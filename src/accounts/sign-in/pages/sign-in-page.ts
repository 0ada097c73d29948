import { type Html, html } from '../../../base/values/html.ts';
import type { PasskeyPrompt } from '../passkey/passkeys.ts';
import { providerSignInPath, type SignInProvider } from '../single-sign-on/sign-in-provider.ts';
import { errorBox, noticeBox, openForm, orLine, type Page, type StepPage } from './layout.ts';
import { passkeyScript } from './page-script.ts';
import { passkeyForm } from './passkey-pages.ts';

export interface SignInPage extends StepPage {
  readonly email?: string;
  /** Undefined: this service can't have passkeys. */
  readonly prompt?: PasskeyPrompt | undefined;
  /** Undefined: the installation has none. */
  readonly provider?: Pick<SignInProvider, 'name'> | undefined;
  readonly note?: string;
}

/** Asks for email address and password, or a passkey. */
export function signInPage(page: SignInPage): Page {
  const { csrf, next, prompt, provider } = page;
  const passkey =
    prompt &&
    passkeyForm({
      prompt,
      action: '/sign-in/passkey',
      csrf,
      next,
      label: 'Sign in with a passkey',
      quiet: true,
    });
  const failed = page.error !== undefined;
  const wrongPassword = failed && page.email !== undefined;
  const withProvider =
    provider &&
    html`<div class="actions"><a class="button quiet" href="${providerSignInPath({}, next)}">Sign in with ${provider.name}</a></div>`;
  const body = html`<h1>Sign in</h1>
${errorBox(page.error)}${noticeBox(page.note)}
${openForm('/sign-in', { csrf: page.csrf, next: page.next })}
<label for="email">Email address</label>
<input id="email" name="email" type="email" autocomplete="username${passkey === undefined ? '' : ' webauthn'}" required maxlength="254" value="${page.email ?? ''}">
<div class="label"><label for="password">Password</label><button type="button" class="link" data-reveal="password" hidden>Show</button></div>
<input id="password" name="password" type="password" autocomplete="current-password" required${wrongPassword ? html` aria-invalid="true" aria-describedby="problem" autofocus` : ''}>
<div class="actions"><button type="submit">Sign in</button></div>
</form>
${passkey}
${withProvider}
<p class="foot"><a href="/forgot-password">Forgot password?</a></p>`;
  const title = failed ? 'Sign in: try again' : 'Sign in';
  return { title, body, ...(prompt && { script: passkeyScript }), status: page.status ?? 200 };
}

export interface SecondFactorPage extends StepPage {
  /** Undefined: the person has no passkey. */
  readonly prompt?: PasskeyPrompt | undefined;
  readonly hasAuthenticator: boolean;
}

/** Asks for the second factor: a passkey, or a code of the authenticator app. */
export function secondFactorPage(page: SecondFactorPage): Page {
  const { csrf, next, prompt, hasAuthenticator, error } = page;
  const passkey =
    prompt && passkeyForm({ prompt, action: '/sign-in/passkey', csrf, next, label: 'Use passkey' });
  const title = passkey === undefined ? 'Enter your code' : 'Verify it’s you';
  const body = html`<h1>${title}</h1>
${errorBox(error)}
${passkey}
${passkey !== undefined && hasAuthenticator ? orLine : ''}
${passkey === undefined || hasAuthenticator ? '' : html`<noscript><p class="error">Passkeys need JavaScript. Use a recovery code.</p></noscript>`}
${hasAuthenticator ? codeForm(page) : ''}
${openForm('/sign-out', { csrf, next }, 'foot')}
<p>Lost your ${hasAuthenticator ? 'authenticator' : 'passkey'}? <a href="/sign-in/recovery-code?${new URLSearchParams({ next }).toString()}">Use a recovery code</a></p>
<button type="submit" class="link">Sign in as someone else</button>
</form>`;
  return {
    title: error === undefined ? title : `${title}: try again`,
    body,
    ...(prompt && { script: passkeyScript }),
    status: page.status ?? 200,
  };
}

function codeForm(page: SecondFactorPage): Html {
  const invalid = page.error === undefined ? '' : html`aria-invalid="true"`;
  return html`${openForm('/sign-in/code', { csrf: page.csrf, next: page.next })}
<label for="code">6-digit code</label>
<input id="code" name="code" type="text" inputmode="numeric" autocomplete="one-time-code" pattern="[0-9 ]*" maxlength="12" required${page.prompt === undefined ? ' autofocus' : ''} aria-describedby="hint${page.error === undefined ? '' : ' problem'}" ${invalid}>
<p id="hint" class="soft">From your authenticator app.</p>
<div class="actions"><button type="submit"${page.prompt === undefined ? '' : html` class="quiet"`}>Continue</button></div>
</form>`;
}
