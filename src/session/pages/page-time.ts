import { html } from 'ghtml';

/** A time in UTC, as HTML. */
export function pageTime(at: Date): string {
  const text = at.toISOString();
  return html`<time datetime="${text}">${text.slice(0, 16).replace('T', ' ')} UTC</time>`;
}
