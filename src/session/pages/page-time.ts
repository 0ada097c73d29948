import { formatPersonTime, type PersonFormats } from '../../account/person-formats.ts';
import { type Html, html } from '../../foundation/html.ts';

/** A time in a person's formats and time zone. */
export function pageTime(at: Date, formats: PersonFormats, timeZone: string): Html {
  return html`<time datetime="${at.toISOString()}">${formatPersonTime(at, formats, timeZone)}</time>`;
}
