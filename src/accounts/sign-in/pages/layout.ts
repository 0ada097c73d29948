import type { FastifyReply } from 'fastify';
import { Html, html } from '../../../base/values/html.ts';
import { pageHead, pageSources } from '../../../host/brand/brand-files.ts';
import { brandMark } from '../../../host/brand/tokens.ts';
import { formatPersonTime, type PersonFormats } from '../../account/person-formats.ts';
import type { PageScript } from './page-script.ts';

/** An error that screen readers announce immediately; empty if undefined. */
export function errorBox(text: string | undefined): Html | undefined {
  return text === undefined
    ? undefined
    : html`<p id="problem" class="error" role="alert">${text}</p>`;
}

/** Between two ways to do the same. */
export const orLine = html`<p class="or">or</p>`;

/**
 * The beginning of a form.
 * @param hidden fields that people don't see; one without a value is omitted
 */
export function openForm(
  action: string,
  hidden: Readonly<Record<string, string | undefined>>,
  className?: string,
): Html {
  const fields = Object.entries(hidden).map(([name, value]) =>
    value === undefined ? '' : html`\n<input type="hidden" name="${name}" value="${value}">`,
  );
  return html`<form method="post" action="${action}"${className && html` class="${className}"`}>${fields}`;
}

/** A notice; empty if undefined. */
export function noticeBox(text: string | undefined): Html | undefined {
  return text === undefined ? undefined : html`<p class="note" role="status">${text}</p>`;
}

/** A time in a person's formats and time zone. */
export function pageTime(at: Date, formats: PersonFormats, timeZone: string): Html {
  return html`<time datetime="${at.toISOString()}">${formatPersonTime(at, formats, timeZone)}</time>`;
}

/** The browser and operating system, as claimed by the User-Agent header. */
export function browserName(userAgent: string): string {
  const family = /(Firefox|Edg|OPR|Chrome|Safari)\//.exec(userAgent)?.[1];
  const system = /(Android|iPhone|iPad|Windows|Mac OS X|Linux)/.exec(userAgent)?.[1];
  const names: Readonly<Record<string, string>> = { Edg: 'Edge', OPR: 'Opera', Chrome: 'Chromium' };
  if (family === undefined) return 'Unknown browser';
  return `${names[family] ?? family}${system === undefined ? '' : ` on ${system}`}`;
}

export interface Page {
  readonly title: string;
  readonly body: Html;
  /** The origin, besides this service, that a form of the page may redirect to. */
  readonly formAction?: string;
  readonly status?: number;
  readonly script?: PageScript;
}

/** What every page with a form shows. */
export interface FormPage {
  readonly csrf: string;
  /** Why the last attempt failed. */
  readonly error?: string | undefined;
  readonly status?: number;
}

/** A page with a form of the way to another page. */
export interface StepPage extends FormPage {
  /** The local path to go to afterwards. */
  readonly next: string;
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

interface PageLink {
  readonly href: string;
  readonly label: string;
}

/** Where pages about a person's sign-in lead. */
export const backToMe = { href: '/me', label: 'Back to sign-in and security' } as const;

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
