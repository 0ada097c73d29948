import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyReply } from 'fastify';
import type { Http } from '../http/create-http.ts';
import { consoleFolder, readConsolePage } from './console-files.ts';
import { notBuiltPage } from './not-built-page.ts';

/** Everything but styles comes from this origin alone; styles that the page's script makes carry its nonce. */
function consolePolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/**
 * For the frame that shows a mail: its own script, whatever styles the mail has, pictures that the mail carries itself.
 * `sandbox` gives it an origin of its own also where somebody opens it by itself.
 */
const framePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  'img-src data:',
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'self'",
  'sandbox allow-scripts',
].join('; ');

/**
 * The web console: `GET /console` and everything below it is its page, `GET /console/assets/*` its files, `GET
 * /console/frame` the frame for mails, and `/` leads to it. Pages are never kept; files have their content in their
 * names and are kept for a year. 503 with a page that says what to do where the console has not been built.
 */
export function registerConsoleRoutes(http: Http, folder: string = consoleFolder): void {
  http.get('/', (_request, reply) => reply.redirect('/console', 302));
  for (const url of ['/console', '/console/*']) {
    http.get(url, async (_request, reply) => {
      const page = await readConsolePage(folder, 'index.html');
      if (page === undefined) return notBuilt(reply);
      return protect(reply, consolePolicy(page.nonce))
        .header('x-frame-options', 'DENY')
        .send(page.html);
    });
  }
  http.get('/console/frame', async (_request, reply) => {
    const page = await readConsolePage(folder, 'frame.html');
    return page === undefined ? notBuilt(reply) : protect(reply, framePolicy).send(page.html);
  });
  http.register(fastifyStatic, {
    root: join(folder, 'assets'),
    prefix: '/console/assets/',
    decorateReply: false,
    index: false,
    preCompressed: true,
    immutable: true,
    maxAge: '365d',
    // The frame's origin is its own, so its script comes from another one (Fetch, CORS protocol).
    setHeaders: (reply) => {
      reply.headers({ 'access-control-allow-origin': '*', 'x-content-type-options': 'nosniff' });
    },
  });
}

function protect(reply: FastifyReply, policy: string): FastifyReply {
  return reply.type('text/html; charset=utf-8').headers({
    'cache-control': 'no-store',
    'content-security-policy': policy,
    'referrer-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  });
}

function notBuilt(reply: FastifyReply): FastifyReply {
  return protect(reply, "default-src 'none'; frame-ancestors 'none'")
    .code(503)
    .header('retry-after', 5)
    .send(notBuiltPage);
}
