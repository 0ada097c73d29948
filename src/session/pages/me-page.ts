import { html } from 'ghtml';
import type { Locale } from '../../outbox/system-mail.ts';
import type { Consent } from '../authorize/consent-store.ts';
import type { ListedBrowserSession } from '../browser/browser-session-store.ts';
import type { Page } from './layout.ts';
import { errorBox, noticeBox } from './sign-in-page.ts';

export interface MePage {
  readonly csrf: string;
  readonly name: string;
  readonly email: string;
  /** The session of the browser that shows the page. */
  readonly sessionId: string;
  readonly sessions: readonly ListedBrowserSession[];
  readonly consents: readonly Consent[];
  readonly hasSecondFactor: boolean;
  readonly locale: Locale;
  readonly note?: string | undefined;
}

/** Everything about one's own sign-in: browsers, integrations, password, second factor. */
export function mePage(page: MePage): Page {
  const body = html`<div class="wide">
<h1>Your sign-in</h1>
!${noticeBox(page.note)}
<p>${page.name}, ${page.email} · <a href="/console">To the console</a></p>
<h2 id="browsers">Signed-in browsers</h2>
<ul class="plain" aria-labelledby="browsers">!${page.sessions.map((session) => sessionItem(page, session)).join('')}</ul>
<h2 id="integrations">Integrations that act for you</h2>
!${consentList(page)}
<h2>Password</h2>
<p><a href="/me/password">Change your password</a></p>
<h2>Second factor</h2>
<p>!${page.hasSecondFactor ? 'A code from your authenticator is asked for when you sign in.' : 'Your password alone signs you in.'} <a href="/me/second-factor">!${page.hasSecondFactor ? 'Recovery codes, or remove it' : 'Add a second factor'}</a></p>
!${languageForm(page)}
<form method="post" action="/sign-out" class="foot">
<input type="hidden" name="csrf" value="${page.csrf}">
<button type="submit" class="quiet">Sign out</button>
</form>
</div>`;
  return { title: 'Your sign-in', body };
}

const languages: Readonly<Record<Locale, string>> = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  es: 'Español',
};

function languageForm({ csrf, locale }: MePage): string {
  const options = Object.entries(languages).map(
    ([value, name]) =>
      html`<option value="${value}" lang="${value}"!${value === locale ? ' selected' : ''}>${name}</option>`,
  );
  return html`<h2>Language</h2>
<form method="post" action="/me/language">
<input type="hidden" name="csrf" value="${csrf}">
<label for="language">Language of email about your sign-in</label>
<select id="language" name="language">!${options.join('')}</select>
<div class="actions"><button type="submit" class="quiet">Save language</button></div>
</form>`;
}

function sessionItem({ csrf, sessionId }: MePage, session: ListedBrowserSession): string {
  const what = html`<span>${browserName(session.userAgent)} <span class="soft">from ${session.remoteAddress}, since !${time(session.createdAt)}</span></span>`;
  if (session.id === sessionId) return html`<li>!${what}<strong>this browser</strong></li>`;
  return html`<li>!${what}<form method="post" action="/me/sessions/end">
<input type="hidden" name="csrf" value="${csrf}"><input type="hidden" name="session" value="${session.id}">
<button type="submit" class="quiet" aria-label="End the session of ${browserName(session.userAgent)} from ${session.remoteAddress}">End</button></form></li>`;
}

function consentList({ csrf, consents }: MePage): string {
  if (consents.length === 0) return '<p class="soft">None.</p>';
  const items = consents.map(
    (
      consent,
    ) => html`<li><span>${consent.integrationName} <span class="soft">in ${consent.accountName}, since !${time(consent.grantedAt)}</span></span><form method="post" action="/me/consents/withdraw">
<input type="hidden" name="csrf" value="${csrf}"><input type="hidden" name="client_id" value="${consent.clientId}">
<button type="submit" class="quiet" aria-label="Withdraw ${consent.integrationName}">Withdraw</button></form></li>`,
  );
  return html`<ul class="plain" aria-labelledby="integrations">!${items.join('')}</ul>`;
}

function time(at: Date): string {
  const text = at.toISOString();
  return html`<time datetime="${text}">${text.slice(0, 16).replace('T', ' ')} UTC</time>`;
}

/** The family of a browser and its system, as far as its own description can be believed. */
function browserName(userAgent: string): string {
  const family = /(Firefox|Edg|OPR|Chrome|Safari)\//.exec(userAgent)?.[1];
  const system = /(Android|iPhone|iPad|Windows|Mac OS X|Linux)/.exec(userAgent)?.[1];
  const names: Readonly<Record<string, string>> = { Edg: 'Edge', OPR: 'Opera', Chrome: 'Chromium' };
  if (family === undefined) return 'A browser';
  return `${names[family] ?? family}${system === undefined ? '' : ` on ${system}`}`;
}

export interface PasswordPage {
  readonly csrf: string;
  readonly error?: string | undefined;
  readonly status?: number;
}

/** Asks for the present password and a new one. */
export function changePasswordPage({ csrf, error, status }: PasswordPage): Page {
  const body = html`<h1>Change your password</h1>
!${errorBox(error)}
<form method="post" action="/me/password">
<input type="hidden" name="csrf" value="${csrf}">
<label for="password">Present password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
!${newPasswordField()}
<p class="soft">This signs you out everywhere else and ends the access of every integration that acts for you.</p>
<div class="actions"><button type="submit">Change password</button></div>
</form>
<p class="foot"><a href="/me">Back to your sign-in</a></p>`;
  return { title: 'Change your password', body, status: status ?? 200 };
}

/** The field for a new password, with its one rule. */
export function newPasswordField(): string {
  return html`<label for="new">New password</label>
<input id="new" name="new" type="password" autocomplete="new-password" minlength="12" required aria-describedby="rule">
<p id="rule" class="soft">At least 12 characters; anything goes. A few words that nobody would guess together are good.</p>`;
}

export interface SecondFactorStatePage {
  readonly csrf: string;
  readonly enrolled: boolean;
  /** Recovery codes that are left. */
  readonly recoveryCodes: number;
  readonly error?: string | undefined;
  readonly status?: number;
}

/** Offers to add a second factor; where there is one, to make new recovery codes or to remove it. */
export function secondFactorStatePage(page: SecondFactorStatePage): Page {
  const title = page.enrolled ? 'Your second factor' : 'Add a second factor';
  const form = page.enrolled
    ? html`<p>A code from your authenticator is asked for when you sign in. ${page.recoveryCodes === 1 ? 'One recovery code is' : `${page.recoveryCodes} recovery codes are`} left; new ones end the old.</p>
<p>Enter a code for either. After removing, your password alone signs you in.</p>
<form method="post" action="/me/second-factor/remove">
<input type="hidden" name="csrf" value="${page.csrf}">
<label for="code">Code, or a recovery code</label>
<input id="code" name="code" type="text" autocomplete="one-time-code" maxlength="40" required>
<div class="actions"><button type="submit" formaction="/me/second-factor/recovery-codes">Make new recovery codes</button>
<button type="submit" class="quiet">Remove the second factor</button></div>
</form>`
    : html`<p>After your password, signing in will ask for a code that an authenticator on your phone shows. The password grant of the API will be refused for you; integrations should use a service user.</p>
<form method="post" action="/me/second-factor/begin">
<input type="hidden" name="csrf" value="${page.csrf}">
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<div class="actions"><button type="submit">Continue</button></div>
</form>`;
  const body = html`<h1>${title}</h1>!${errorBox(page.error)}!${form}<p class="foot"><a href="/me">Back to your sign-in</a></p>`;
  return { title, body, status: page.status ?? 200 };
}

export interface EnrollPage {
  readonly csrf: string;
  readonly secret: string;
  /** The picture to scan, as SVG. */
  readonly picture: string;
}

/** Shows the secret once, as a picture and in letters, and asks for a first code. */
export function enrollPage({ csrf, secret, picture }: EnrollPage): Page {
  const body = html`<h1>Scan this with your authenticator</h1>
<div class="qr" role="img" aria-label="QR code that holds the key below">!${picture}</div>
<p>Or type the key: <code>${secret.replace(/(.{4})(?=.)/g, '$1 ')}</code></p>
<form method="post" action="/me/second-factor/confirm">
<input type="hidden" name="csrf" value="${csrf}">
<label for="code">Code</label>
<input id="code" name="code" type="text" inputmode="numeric" autocomplete="one-time-code" pattern="[0-9 ]*" maxlength="12" required>
<div class="actions"><button type="submit">Turn it on</button></div>
</form>
<p class="foot"><a href="/me">Leave it</a></p>`;
  return { title: 'Scan this with your authenticator', body };
}
