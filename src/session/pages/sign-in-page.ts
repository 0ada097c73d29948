import { html } from 'ghtml';
import type { Page } from './layout.ts';

export interface SignInPage {
  readonly csrf: string;
  /** The local path to go to afterwards. */
  readonly next: string;
  readonly email?: string;
  /** The error of the last attempt. */
  readonly error?: string;
  readonly note?: string;
  readonly status?: number;
}

/** Asks for email address and password. */
export function signInPage(page: SignInPage): Page {
  const invalid = page.error === undefined ? '' : 'aria-invalid="true" aria-describedby="problem"';
  const body = html`<h1>Sign in</h1>
!${errorBox(page.error)}!${noticeBox(page.note)}
<form method="post" action="/sign-in">
<input type="hidden" name="csrf" value="${page.csrf}">
<input type="hidden" name="next" value="${page.next}">
<label for="email">Email address</label>
<input id="email" name="email" type="email" autocomplete="username" required maxlength="254" value="${page.email ?? ''}" !${invalid}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required !${invalid}>
<div class="actions"><button type="submit">Sign in</button></div>
</form>
<p class="foot"><a href="/forgot-password">Set or reset your password</a></p>`;
  const title = page.error === undefined ? 'Sign in' : 'Sign in: try again';
  return { title, body, status: page.status ?? 200 };
}

export interface SecondFactorPage {
  readonly csrf: string;
  readonly next: string;
  readonly error?: string;
  readonly status?: number;
}

/** Asks for the code of the second factor. */
export function secondFactorPage(page: SecondFactorPage): Page {
  const invalid = page.error === undefined ? '' : 'aria-invalid="true"';
  const body = html`<h1>Enter your code</h1>
!${errorBox(page.error)}
<form method="post" action="/sign-in/code">
<input type="hidden" name="csrf" value="${page.csrf}">
<input type="hidden" name="next" value="${page.next}">
<label for="code">Code</label>
<input id="code" name="code" type="text" inputmode="numeric" autocomplete="one-time-code" pattern="[0-9 ]*" maxlength="12" required aria-describedby="hint!${page.error === undefined ? '' : ' problem'}" !${invalid}>
<p id="hint" class="soft">The six-digit code from your authenticator app.</p>
<div class="actions"><button type="submit">Continue</button></div>
</form>
<form method="post" action="/sign-out" class="foot">
<input type="hidden" name="csrf" value="${page.csrf}">
<input type="hidden" name="next" value="${page.next}">
<p>Lost your authenticator? <a href="/sign-in/recovery-code?${new URLSearchParams({ next: page.next })}">Use a recovery code</a></p>
<button type="submit" class="link">Sign in as someone else</button>
</form>`;
  const title = page.error === undefined ? 'Enter your code' : 'Enter your code: try again';
  return { title, body, status: page.status ?? 200 };
}

/** An error that screen readers announce immediately; empty if undefined. */
export function errorBox(text: string | undefined): string {
  return text === undefined ? '' : html`<p id="problem" class="error" role="alert">${text}</p>`;
}

/** A notice; empty if undefined. */
export function noticeBox(text: string | undefined): string {
  return text === undefined ? '' : html`<p class="note" role="status">${text}</p>`;
}
