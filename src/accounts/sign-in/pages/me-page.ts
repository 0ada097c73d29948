import { describePlace } from '../../../base/network/ip-address.ts';
import { type Html, html } from '../../../base/values/html.ts';
import { minPasswordLength } from '../../account/hash-password.ts';
import { personalWords } from '../../account/password-rules.ts';
import { type PersonFormats, personFormats } from '../../account/person-formats.ts';
import type { Locale } from '../../notices/system-mail.ts';
import type { Consent } from '../../oauth/consent-store.ts';
import type { ListedBrowserSession } from '../browser/browser-session-store.ts';
import type { ListedPasskey } from '../passkey/passkey-store.ts';
import type { ListedProviderIdentity } from '../single-sign-on/provider-identity-store.ts';
import type { SignInProvider } from '../single-sign-on/sign-in-provider.ts';
import {
  browserName,
  errorBox,
  type FormPage,
  noticeBox,
  openForm,
  type Page,
  pageTime,
} from './layout.ts';
import { copyScript, passwordHint, passwordScript } from './page-script.ts';
import { passkeySection, passwordGrantNote } from './passkey-pages.ts';

interface OwnSignIn {
  readonly passkeys: readonly ListedPasskey[];
  /** Why this service can't have passkeys; undefined if it can. */
  readonly passkeyProblem: string | undefined;
  readonly hasAuthenticator: boolean;
  readonly locale: Locale;
}

export interface MePage {
  readonly csrf: string;
  readonly name: string;
  readonly email: string;
  /** The session of the browser that shows the page. */
  readonly sessionId: string;
  readonly sessions: readonly ListedBrowserSession[];
  readonly consents: readonly Consent[];
  /** Providers that the person can connect. */
  readonly providers: readonly Pick<SignInProvider, 'accountId' | 'issuer' | 'name'>[];
  readonly identities: readonly ListedProviderIdentity[];
  /** How the person signs in, which a session of an account's provider neither sees nor changes. */
  readonly own: OwnSignIn | undefined;
  readonly formats: PersonFormats;
  /** Of the browser. */
  readonly timeZone: string;
  readonly note?: string | undefined;
}

/** The page for managing your own sign-in: sessions, integrations, password, second factor and language. */
export function mePage(page: MePage): Page {
  const { csrf, name, email, own } = page;
  const body = html`<div class="wide">
<div class="head">
<div><h1>Sign-in and security</h1><p class="soft">${name} · ${email}</p></div>
${openForm('/sign-out', { csrf }, 'row')}
<a class="button quiet small" href="/console">Go to the console</a>
<button type="submit" class="quiet small">Sign out</button>
</form>
</div>
${noticeBox(page.note)}
${own === undefined ? '' : ownSections(page, own)}
${own === undefined ? '' : providerSection(page)}
<section aria-labelledby="browsers">
<h2 id="browsers">Sessions</h2>
<ul class="plain" aria-labelledby="browsers">${page.sessions.map((session) => sessionItem(page, session))}</ul>
${page.sessions.length > 1 ? endOthersForm(csrf) : ''}
</section>
<section aria-labelledby="integrations">
<h2 id="integrations">Apps with access</h2>
${consentList(page)}
</section>
${own === undefined ? '' : languageSection(page, own.locale)}
</div>`;
  return { title: 'Sign-in and security', body };
}

function ownSections(page: MePage, own: OwnSignIn): Html {
  const hasSecondFactor = own.hasAuthenticator || own.passkeys.length > 0;
  return html`<section class="row" aria-labelledby="own-password">
<div><h2 id="own-password">Password</h2><p class="soft">Changing it signs you out everywhere else.</p></div>
<a class="button quiet small" href="/me/password">Change password</a>
</section>
<section class="row" aria-labelledby="factor">
<div><h2 id="factor">Second factor</h2><p class="soft">${secondFactorText(own)}</p></div>
<a class="button quiet small" href="/me/second-factor">${hasSecondFactor ? 'Manage second factor' : 'Add second factor'}</a>
</section>
<section aria-labelledby="passkeys">
${passkeySection(own.passkeys, own.passkeyProblem, (at) => time(page, at))}
</section>`;
}

function secondFactorText({ hasAuthenticator, passkeys }: OwnSignIn): string {
  if (passkeys.length > 0)
    return hasAuthenticator
      ? 'If you sign in with your password, you also need a passkey or a code from your authenticator app.'
      : 'If you sign in with your password, you also need a passkey.';
  return hasAuthenticator
    ? 'Signing in requires a code from your authenticator app.'
    : 'You sign in with your password only.';
}

/** The providers that the person signs in with, and those that could be connected; nothing if there are none. */
function providerSection(page: MePage): Html | undefined {
  const { csrf, providers, identities } = page;
  if (providers.length + identities.length === 0) return undefined;
  const connected = identities.map((identity) => {
    const provider = providers.find((one) => isOf(one, identity));
    const name = provider?.name ?? identity.issuer;
    const used =
      identity.lastUsedAt === null
        ? 'never used'
        : html`last used ${time(page, identity.lastUsedAt)}`;
    return html`<li><span>${name} <span class="soft">connected ${time(page, identity.createdAt)}, ${used}</span></span>${openForm('/me/providers/disconnect', { csrf, identity: identity.id })}
<button type="submit" class="quiet small" aria-label="Disconnect ${name}">Disconnect</button></form></li>`;
  });
  const others = providers
    .filter(
      (provider) =>
        !identities.some((identity) => isOf(provider, identity) && !canConnect(page, identity)),
    )
    .map(
      ({
        accountId,
        name,
      }) => html`<li><span>${name}</span>${openForm('/me/providers/connect', { csrf, account: accountId ?? '' })}
<button type="submit" class="quiet small">Connect ${name}</button></form></li>`,
    );
  return html`<section aria-labelledby="providers">
<h2 id="providers">Single sign-on</h2>
<ul class="plain" aria-labelledby="providers">${connected}${others}</ul>
</section>`;
}

/** Whom an account's provider brought in can use it for more accounts only once they connect it. */
function canConnect({ own }: MePage, { providerAccount, linked }: ListedProviderIdentity): boolean {
  return own !== undefined && providerAccount !== null && !linked;
}

function isOf(
  { accountId, issuer }: Pick<SignInProvider, 'accountId' | 'issuer'>,
  identity: ListedProviderIdentity,
): boolean {
  return identity.providerAccount === (accountId ?? null) && identity.issuer === issuer;
}

const languages: Readonly<Record<Locale, string>> = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  es: 'Español',
};

const exampleTime = { month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' } as const;

function languageSection({ csrf, formats, timeZone }: MePage, locale: Locale): Html {
  const options = Object.entries(languages).map(
    ([value, name]) =>
      html`<option value="${value}" lang="${value}"${value === locale ? ' selected' : ''}>${name}</option>`,
  );
  // Short, because a phone shows about 35 characters.
  const regions = new Intl.DisplayNames('en', { type: 'region', style: 'short' });
  const now = new Date();
  const choices = personFormats.map((value) => {
    const region = regions.of(value.slice(-2)) ?? value;
    const time = new Intl.DateTimeFormat(value, { ...exampleTime, timeZone }).format(now);
    const example = `${time} · ${new Intl.NumberFormat(value).format(1_234.5)}`;
    return html`<option value="${value}"${value === formats ? ' selected' : ''}>${region}: ${example}</option>`;
  });
  return html`<section aria-labelledby="language-title">
<h2 id="language-title">Language and formats</h2>
${openForm('/me/language', { csrf })}
<label for="language">Language for account emails</label>
<select id="language" name="language">${options}</select>
<label for="formats">Dates and numbers</label>
<select id="formats" name="formats">${choices}</select>
<div class="actions"><button type="submit" class="quiet small">Save</button></div>
</form>
</section>`;
}

function sessionItem(page: MePage, session: ListedBrowserSession): Html {
  const { csrf, sessionId } = page;
  const what = html`<span>${browserName(session.userAgent)} <span class="soft">Last used ${time(page, session.lastUsedAt)} from ${session.remoteAddress} (${describePlace(session.remoteAddress)})<br>Signed in ${time(page, session.createdAt)}</span></span>`;
  if (session.id === sessionId) return html`<li>${what}<span class="tag">This browser</span></li>`;
  return html`<li>${what}${openForm('/me/sessions/end', { csrf, session: session.id })}
<button type="submit" class="quiet small" aria-label="Sign out ${browserName(session.userAgent)} at ${session.remoteAddress}">Sign out</button></form></li>`;
}

function endOthersForm(csrf: string): Html {
  return html`${openForm('/me/sessions/end-others', { csrf })}
<div class="actions"><button type="submit" class="quiet small">Sign out everywhere else</button></div>
</form>`;
}

function consentList(page: MePage): Html {
  const { csrf, consents } = page;
  if (consents.length === 0) return html`<p class="soft">None.</p>`;
  const items = consents.map(
    (
      consent,
    ) => html`<li><span>${consent.integrationName} <span class="soft">in ${consent.accountName}, since ${time(page, consent.grantedAt)}</span></span>${openForm('/me/consents/withdraw', { csrf, client_id: consent.clientId })}
<button type="submit" class="quiet small" aria-label="Revoke ${consent.integrationName}">Revoke</button></form></li>`,
  );
  return html`<ul class="plain" aria-labelledby="integrations">${items}</ul>`;
}

function time({ formats, timeZone }: MePage, at: Date): Html {
  return pageTime(at, formats, timeZone);
}

export interface PasswordPage extends FormPage {
  readonly personal: readonly string[];
}

/** Asks for the current password and a new one. */
export function changePasswordPage({ csrf, personal, error, status }: PasswordPage): Page {
  const body = html`<h1>Change your password</h1>
${errorBox(error)}
${openForm('/me/password', { csrf })}
<label for="password">Current password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
${newPasswordField(personal)}
<p class="soft">This signs you out everywhere else and revokes the access of all apps.</p>
<div class="actions"><button type="submit">Change password</button></div>
</form>
<p class="foot"><a href="/me">Back to sign-in and security</a></p>`;
  return { title: 'Change your password', body, script: passwordScript, status: status ?? 200 };
}

/**
 * The field for a new password, with its rule, which `passwordScript` replaces by a judgement while it is typed.
 * @param personal what is easy to guess for this person, such as their name and address
 */
export function newPasswordField(personal: readonly string[]): Html {
  return html`<div class="label"><label for="new">New password</label><button type="button" class="link" data-reveal="new" hidden>Show</button></div>
<input id="new" name="new" type="password" autocomplete="new-password" minlength="${minPasswordLength}" required aria-describedby="rule" data-strength="rule" data-personal="${JSON.stringify(personalWords(personal))}">
<p id="rule" class="soft" aria-live="polite">${passwordHint}</p>`;
}

export interface SecondFactorStatePage extends FormPage {
  readonly hasAuthenticator: boolean;
  readonly hasPasskey: boolean;
  /** Number of unused recovery codes. */
  readonly recoveryCodes: number;
}

/** Offers to set up an authenticator app or, if there is one, to remove it; and to create new recovery codes. */
export function secondFactorStatePage(page: SecondFactorStatePage): Page {
  const { csrf, hasAuthenticator, hasPasskey, recoveryCodes, error } = page;
  const isOn = hasAuthenticator || hasPasskey;
  const title = isOn ? 'Second factor' : 'Add a second factor';
  const begin = html`${openForm('/me/second-factor/begin', { csrf })}
<div class="actions"><button type="submit">Set up an authenticator app</button></div>
</form>`;
  const intro = isOn
    ? ''
    : html`<p>After your password, you’ll enter a code from your phone. You need an authenticator app, such as 1Password or Google Authenticator.</p>
<p class="soft">${passwordGrantNote}</p>`;
  const codes = html`<h2>Recovery codes</h2>
<p>You have ${recoveryCodes === 1 ? '1 recovery code' : `${recoveryCodes} recovery codes`} left. Each replaces your second factor once. New codes replace the old ones.</p>
${openForm('/me/second-factor/recovery-codes', { csrf })}
<div class="actions"><button type="submit" class="quiet">Create new recovery codes</button></div>
</form>`;
  const app = hasAuthenticator
    ? html`<p>Your authenticator app is set up. ${hasPasskey ? 'If you remove it, you’ll use a passkey after your password.' : 'If you remove it, you’ll sign in with your password only, and your recovery codes are deleted.'}</p>
${openForm('/me/second-factor/remove', { csrf })}
<div class="actions"><button type="submit" class="danger">Remove authenticator app</button></div>
</form>`
    : html`${isOn ? html`<p>You have a passkey. An authenticator app is another way to sign in after your password.</p>` : ''}${begin}`;
  const body = html`<h1>${title}</h1>
${errorBox(error)}
${intro}
${isOn ? html`<h2>Authenticator app</h2>` : ''}
${app}
${isOn ? codes : ''}
<p class="foot"><a href="/me">Back to sign-in and security</a></p>`;
  return { title, body, status: page.status ?? 200 };
}

export interface EnrollPage extends FormPage {
  readonly secret: string;
  /** The QR code as SVG. */
  readonly picture: Html;
}

/** Shows the secret until a first code is right, as a QR code and as text. */
export function enrollPage({ csrf, secret, picture, error, status }: EnrollPage): Page {
  const body = html`<h1>Scan this code</h1>
${errorBox(error)}
<p>Scan it with your authenticator app, then enter the code that the app shows.</p>
<div class="qr" role="img" aria-label="QR code with the key below">${picture}</div>
<p class="soft">Can’t scan it? Enter this key in your app:</p>
<p class="key" data-copy="${secret}"><code>${secret.replace(/(.{4})(?=.)/g, '$1 ')}</code><button type="button" class="quiet small" hidden>Copy</button></p>
${openForm('/me/second-factor/confirm', { csrf, secret })}
<label for="code">6-digit code</label>
<input id="code" name="code" type="text" inputmode="numeric" autocomplete="one-time-code" pattern="[0-9 ]*" maxlength="12" required${error === undefined ? '' : html` aria-describedby="problem" aria-invalid="true" autofocus`}>
<div class="actions"><button type="submit">Turn on</button></div>
</form>
<p class="foot"><a href="/me">Cancel</a></p>`;
  const title = error === undefined ? 'Scan this code' : 'Scan this code: try again';
  return { title, body, script: copyScript, status: status ?? 200 };
}
