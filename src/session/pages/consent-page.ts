import { tokenOperations } from '../../access/token-operations.ts';
import { type Html, html } from '../../foundation/html.ts';
import type { AccountId } from '../../foundation/ids.ts';
import type { UnusableRequest } from '../authorize/authorization-errors.ts';
import type { Page } from './layout.ts';
import { messagePage } from './message-page.ts';

export interface ConsentPage {
  readonly csrf: string;
  /** The query of the authorization request. */
  readonly query: string;
  readonly integrationName: string;
  readonly clientId: string;
  /** The name of the account that registered it; undefined if the person doesn't belong to it. */
  readonly owner: string | undefined;
  /** The host that the browser is redirected to afterwards. */
  readonly target: string;
  readonly formAction: string;
  readonly email: string;
  readonly accounts: readonly { readonly id: AccountId; readonly name: string }[];
  readonly chosen: AccountId | undefined;
  /** Whether the person allowed this integration before. */
  readonly allowedBefore: boolean;
}

const allowed = Object.values(tokenOperations).map(
  ({ allows }) => html`<li>${allows.charAt(0).toUpperCase()}${allows.slice(1)}</li>\n`,
);

/** Asks whether an integration may act in one of the person's accounts. */
export function consentPage(page: ConsentPage): Page {
  const title = `${page.integrationName} wants access to your account`;
  const body = html`<h1>${title}</h1>
<p class="soft">Registered by ${page.owner === undefined ? 'another account' : html`<strong>${page.owner}</strong>`} · Client ID <code>${page.clientId}</code>${page.allowedBefore ? html`<br>You’ve allowed it before.` : ''}</p>
<form method="post" action="/authorize?${page.query}">
<input type="hidden" name="csrf" value="${page.csrf}">
${accountChoice(page)}
<p id="may">As far as your role allows, it can:</p>
<ul class="may" aria-labelledby="may">
${allowed}</ul>
<p class="soft">It can’t change settings, see your contacts, manage users or keys, or act in another account.</p>
<p class="soft">You’ll be sent to <strong>${page.target}</strong>. You can revoke access at any time under <a href="/me">Sign-in and security</a>.</p>
<div class="actions equal">
<button type="submit" name="decision" value="deny" class="quiet">Decline</button>
<button type="submit" name="decision" value="allow">Allow</button>
</div>
</form>
<form method="post" action="/sign-out" class="foot">
<input type="hidden" name="csrf" value="${page.csrf}">
<input type="hidden" name="next" value="/authorize?${page.query}">
Signed in as ${page.email}. <button type="submit" class="link">Sign in as someone else</button>
</form>`;
  return { title, body, formAction: page.formAction };
}

function accountChoice({ accounts, chosen }: ConsentPage): Html {
  const [only] = accounts;
  if (accounts.length === 1 && only !== undefined)
    return html`<input type="hidden" name="account" value="${only.id}">
<p>Account: <strong>${only.name}</strong> <span class="soft">(${only.id})</span></p>`;
  const choices = accounts.map(
    ({ id, name }) =>
      html`<label class="choice"><input type="radio" name="account" value="${id}" required ${id === chosen ? 'checked' : ''}><span>${name} <span class="soft">(${id})</span></span></label>`,
  );
  return html`<fieldset><legend>Choose an account</legend>${choices}</fieldset>`;
}

/** Shown to a session of an account's provider if the person uses the integration beyond that account. */
export function usedBeyondPage({ name }: { readonly name: string }): Page {
  return messagePage(
    'Sign in another way',
    `You signed in with your account’s provider, but you use ${name} outside this account. To connect it again, sign in with your password or a passkey.`,
    409,
    { href: '/me', label: 'Sign-in and security' },
  );
}

/** Shown instead of a consent page if it's unclear which integration asks, or where to send the person afterwards. */
export function unusableRequestPage({ message }: UnusableRequest): Page {
  const title = 'This app can’t be connected';
  const body = html`<h1>${title}</h1>
<p>Go back to the app and try again, or contact its developer.</p>
<p class="soft">${message}</p>`;
  return { title, body, status: 400 };
}
