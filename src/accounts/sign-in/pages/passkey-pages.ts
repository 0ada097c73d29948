import { type Html, html } from '../../../base/values/html.ts';
import type { ListedPasskey } from '../passkey/passkey-store.ts';
import type { PasskeyPrompt } from '../passkey/passkeys.ts';
import { errorBox, type FormPage, openForm, type Page } from './layout.ts';
import { passkeyScript } from './page-script.ts';

interface PasskeyForm {
  readonly prompt: PasskeyPrompt;
  readonly action: string;
  readonly csrf: string;
  /** The local path to go to afterwards. */
  readonly next?: string;
  /** Fields before the button. */
  readonly fields?: Html;
  readonly label: string;
  readonly quiet?: boolean;
}

/** A form that a passkey fills in. Hidden until the script knows that the browser can use one. */
export function passkeyForm(form: PasskeyForm): Html {
  const { prompt, action, csrf, next, fields, label, quiet } = form;
  return html`<form method="post" action="${action}" data-passkey="${prompt.purpose}" data-origin="${prompt.origin}" data-options="${JSON.stringify(prompt.options)}" hidden>
<input type="hidden" name="csrf" value="${csrf}">
${next === undefined ? '' : html`<input type="hidden" name="next" value="${next}">`}
<input type="hidden" name="answer">
${fields}
<p class="error" role="alert" data-problem hidden></p>
<div class="actions"><button type="submit" data-start${quiet ? html` class="quiet"` : ''}>${label}</button></div>
</form>`;
}

/**
 * The passkeys of a person, on their own page.
 * @param time writes a time
 */
export function passkeySection(
  passkeys: readonly ListedPasskey[],
  problem: string | undefined,
  time: (at: Date) => Html,
): Html {
  const items = passkeys.map(
    ({ id, name, createdAt, lastUsedAt }) =>
      html`<li><span>${name} <span class="soft">Added ${time(createdAt)}, ${lastUsedAt === null ? 'never used' : html`last used ${time(lastUsedAt)}`}</span></span><a class="button quiet small" href="/me/passkeys/${id}" aria-label="Manage passkey ${name}">Manage</a></li>`,
  );
  const list =
    items.length === 0 ? '' : html`<ul class="plain" aria-labelledby="passkeys">${items}</ul>`;
  const add =
    problem === undefined
      ? html`${items.length === 0 ? html`<p class="soft">Sign in with your fingerprint, face, PIN or security key instead of your password.</p>` : ''}<div class="actions"><a class="button quiet small" href="/me/passkeys/new">Add a passkey</a></div>`
      : html`<p class="soft">${problem}</p>`;
  return html`<h2 id="passkeys">Passkeys</h2>
${list}
${add}`;
}

/** What a second factor changes for programs. */
export const passwordGrantNote =
  'Programs that get tokens with your password (the API’s password grant) stop working; use a service user for them.';

interface NewPasskeyPage extends FormPage {
  readonly prompt: PasskeyPrompt;
  /** Suggested name. */
  readonly name: string;
  /** The person has no second factor yet. */
  readonly first: boolean;
}

/** Asks for a name and creates a passkey. */
export function newPasskeyPage({ csrf, prompt, name, first, error }: NewPasskeyPage): Page {
  const title = 'Add a passkey';
  const body = html`<h1>${title}</h1>
${errorBox(error)}
<p>Sign in with your fingerprint, face, PIN or security key instead of your password.</p>
${first ? html`<p class="soft">Your password alone won’t sign you in anymore: you’ll also need a passkey or a recovery code. ${passwordGrantNote}</p>` : ''}
<noscript><p class="error">Passkeys need JavaScript.</p></noscript>
${passkeyForm({ prompt, action: '/me/passkeys', csrf, fields: nameField(name), label: 'Create passkey' })}
<p class="foot"><a href="/me">Cancel</a></p>`;
  return { title, body, script: passkeyScript, status: error === undefined ? 200 : 422 };
}

function nameField(name: string): Html {
  return html`<label for="name">Name</label>
<input id="name" name="name" type="text" maxlength="60" required autocomplete="off" value="${name}" aria-describedby="name-hint">
<p id="name-hint" class="soft">Such as “Work laptop”.</p>`;
}

interface PasskeyPage {
  readonly csrf: string;
  readonly passkey: ListedPasskey;
  /** The person has no other second factor. */
  readonly isLastFactor: boolean;
  /** Writes a time. */
  readonly time: (at: Date) => Html;
}

/** Renames or removes a passkey. */
export function passkeyPage({ csrf, passkey, isLastFactor, time }: PasskeyPage): Page {
  const { id, name, createdAt, lastUsedAt } = passkey;
  const body = html`<h1>Passkey</h1>
<p class="soft">Added ${time(createdAt)}, ${lastUsedAt === null ? 'never used' : html`last used ${time(lastUsedAt)}`}.</p>
${openForm('/me/passkeys/rename', { csrf, passkey: id })}
${nameField(name)}
<div class="actions"><button type="submit">Save name</button></div>
</form>
${openForm('/me/passkeys/remove', { csrf, passkey: id }, 'foot')}
<h2>Remove this passkey</h2>
<p>It stops working immediately${isLastFactor ? ', and your recovery codes are deleted. Your password alone will sign you in' : ''}. Also delete it on your device.</p>
<div class="actions"><button type="submit" class="danger">Remove passkey</button></div>
</form>
<p class="foot"><a href="/me">Back to sign-in and security</a></p>`;
  return { title: 'Passkey', body };
}
