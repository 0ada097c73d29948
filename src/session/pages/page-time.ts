import { html } from 'ghtml';
import { formatPersonTime, type PersonFormats } from '../../account/person-formats.ts';

/** A time in a person's formats and time zone, as HTML. */
export function pageTime(at: Date, formats: PersonFormats, timeZone: string): string {
  return html`<time datetime="${at.toISOString()}">${formatPersonTime(at, formats, timeZone)}</time>`;
}
