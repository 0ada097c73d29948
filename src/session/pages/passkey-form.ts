import { type Html, html } from '../../foundation/html.ts';
import type { PasskeyPrompt } from '../passkey/passkeys.ts';

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
