import { html } from 'ghtml';
import type { Page } from './layout.ts';

/** A page with a message and optionally a link. */
export function messagePage(
  title: string,
  text: string,
  status = 200,
  next?: { readonly href: string; readonly label: string },
): Page {
  const link =
    next === undefined
      ? ''
      : html`<div class="actions"><a class="button quiet" href="${next.href}">${next.label}</a></div>`;
  return { title, status, body: html`<h1>${title}</h1><p>${text}</p>!${link}` };
}
