import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyReply } from 'fastify';
import { pageHead, pageSources } from '../brand/brand-files.ts';
import { brandMark } from '../brand/tokens.ts';
import type { Http } from '../http/create-http.ts';
import { consoleFolder, readConsolePage } from './console-files.ts';

/** The policy of the page. */
const notBuiltPolicy = `${pageSources}; frame-ancestors 'none'`;

/** Shown until the console is built. Reloads automatically, as `start` may be building it. */
const notBuiltPage = `<!doctype html>
<html lang="en">
<head>
${pageHead}
<meta http-equiv="refresh" content="5">
<title>Console not built · Signalpost</title>
</head>
<body>
<header><p class="brand">${brandMark}Signalpost</p></header>
<main>
<h1>Console not built yet</h1>
<p>The service itself is running. If it just started, it may still be building the console; this page reloads every five
seconds.</p>
<p>If nothing changes, run <code>npm ci &amp;&amp; npm run console</code> in the service’s folder.</p>
</main>
</body>
</html>
`;

/** Allows content from this origin only; styles that the page's script creates carry its nonce. */
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
 * For the frame that shows an email: allows its own script, the email's styles and embedded images, and images hosted
 * by this service, which don't count as opens. `sandbox` gives it an opaque origin even if someone opens it directly,
 * and lets links open pages in new tabs.
 * @param hostedImages URL prefix of hosted images
 */
function framePolicy(hostedImages: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'unsafe-inline'",
    `img-src data: ${hostedImages}`,
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'self'",
    'sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox',
  ].join('; ');
}

/**
 * The web console: `GET /console` and everything below it is its page, `GET /console/assets/*` its files, `GET
 * /console/frame` the frame for emails, and `/` redirects to it. Pages are never cached; files have a content hash in
 * their names and are cached for a year. If the console isn't built: 503 with a page that says what to do.
 */
export function registerConsoleRoutes(
  http: Http,
  hostedImages: () => string,
  folder: string = consoleFolder,
): void {
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
    return page === undefined
      ? notBuilt(reply)
      : protect(reply, framePolicy(hostedImages()))
          // Browsers would otherwise resolve the hosts of links in advance.
          .header('x-dns-prefetch-control', 'off')
          .send(page.html);
  });
  http.register(fastifyStatic, {
    root: join(folder, 'assets'),
    prefix: '/console/assets/',
    decorateReply: false,
    index: false,
    preCompressed: true,
    immutable: true,
    maxAge: '365d',
    // The frame has an opaque origin, so loading its script is a cross-origin request (Fetch, CORS protocol).
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
  return protect(reply, notBuiltPolicy).code(503).header('retry-after', 5).send(notBuiltPage);
}
