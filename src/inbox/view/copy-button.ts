import { type Html, html } from '../../foundation/html.ts';
import { icon } from './icons.ts';

/** A button that copies a text; the script of the inbox shows it where the browser can. */
export function renderCopyButton(text: string, label: string): Html {
  return html`<button type="button" class="copy" data-copy="${text}" aria-label="${label}" title="${label}" hidden>${icon('copy')}</button>`;
}
