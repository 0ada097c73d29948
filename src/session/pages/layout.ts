import type { FastifyReply } from 'fastify';
import { pageHead, pageSources } from '../../brand/brand-files.ts';
import { brandMark } from '../../brand/brand-mark.ts';
import { Html, html } from '../../foundation/html.ts';
import type { PageScript } from './page-script.ts';

export interface Page {
  readonly title: string;
  readonly body: Html;
  /** The origin, besides this service, that a form of the page may redirect to. */
  readonly formAction?: string;
  readonly status?: number;
  readonly script?: PageScript;
}

/**
 * Sends a page that can't be cached or framed and runs at most its own script. Chromium applies form-action to redirects after a
 * form too, so the target of a consent must be listed.
 */
export function sendPage(reply: FastifyReply, page: Page): FastifyReply {
  const formAction = page.formAction === undefined ? '' : ` ${page.formAction}`;
  return protectPage(reply)
    .code(page.status ?? 200)
    .type('text/html; charset=utf-8')
    .header(
      'content-security-policy',
      `${pageSources};${page.script ? " script-src 'self';" : ''} form-action 'self'${formAction}; frame-ancestors 'none'; base-uri 'none'`,
    )
    .send(layout(page).toString());
}

/** Redirects the browser after a form, so that reloading doesn't submit it again (303, RFC 9110 section 15.4.4). */
export function seeOther(reply: FastifyReply, location: string): FastifyReply {
  return protectPage(reply).code(303).header('location', location).send();
}

function protectPage(reply: FastifyReply): FastifyReply {
  return reply.headers({
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    // Keeps these URLs from other sites; forms still send an Origin header.
    'referrer-policy': 'same-origin',
  });
}

function layout({ title, body, script }: Page): Html {
  return html`<!doctype html>
<html lang="en">
<head>
${new Html(pageHead)}
<title>${title} · Signalpost</title>
${script ? html`<script src="${script.url()}" defer></script>` : ''}</head>
<body>
<header><p class="brand">${new Html(brandMark)}Signalpost</p></header>
<main>
${body}
</main>
</body>
</html>
`;
}
