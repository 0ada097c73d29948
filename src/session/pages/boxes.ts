import { type Html, html } from '../../foundation/html.ts';

/** An error that screen readers announce immediately; empty if undefined. */
export function errorBox(text: string | undefined): Html | undefined {
  return text === undefined
    ? undefined
    : html`<p id="problem" class="error" role="alert">${text}</p>`;
}

/** Between two ways to do the same. */
export const orLine = html`<p class="or">or</p>`;

/** A notice; empty if undefined. */
export function noticeBox(text: string | undefined): Html | undefined {
  return text === undefined ? undefined : html`<p class="note" role="status">${text}</p>`;
}
