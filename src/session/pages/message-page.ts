import { html } from '../../foundation/html.ts';
import type { Page } from './layout.ts';

interface PageLink {
  readonly href: string;
  readonly label: string;
}

/** A page with a message and optionally links: the next step, and a way back. */
export function messagePage(
  title: string,
  text: string,
  status = 200,
  next?: PageLink,
  back?: PageLink,
): Page {
  const link =
    next === undefined
      ? ''
      : html`<div class="actions"><a class="button" href="${next.href}">${next.label}</a></div>`;
  const foot =
    back === undefined ? '' : html`<p class="foot"><a href="${back.href}">${back.label}</a></p>`;
  return { title, status, body: html`<h1>${title}</h1><p>${text}</p>${link}${foot}` };
}
