import { Readable } from 'node:stream';
import { isUnavailable } from '../../base/database/sqlstate.ts';
import type { Http } from '../../host/http/create-http.ts';
import { skipBody } from '../../host/http/read-body.ts';
import { type AnswerProblem, createAnswerProblem } from './answer-page.ts';
import { registerFindMessagesRoutes } from './find-messages-routes.ts';
import { guardInbox, setSecurityHeaders } from './inbox-access.ts';
import type { InboxContext, InboxRoutesDependencies } from './inbox-context.ts';
import { type CapturedMessage, parseInboxMessageId } from './inbox-message.ts';
import { registerInboxPageRoutes } from './inbox-page-routes.ts';
import { ParameterError, readDeleteQuery } from './message-parameters.ts';
import { prepareHtml } from './prepare-html.ts';
import { type Asset, readAssets } from './read-assets.ts';
import { showCaptured } from './show-captured.ts';

/** `/inbox` if mail isn't captured: 404 with the reason. */
export function registerInboxOffRoutes(http: Http): void {
  for (const url of ['/inbox', '/inbox/*']) {
    http.all(url, {
      config: { refusesAll: true },
      onRequest: (request, reply) => {
        skipBody(request, reply);
        reply.code(404).send({
          status: 404,
          message: 'The inbox is off. Set DELIVERY=inbox to capture mail.',
          requestId: request.id,
        });
      },
      handler: () => undefined,
    });
  }
}

/** Everything below `/inbox`. Only the entry link, style and script are available without access. */
export function registerInboxRoutes(http: Http, dependencies: InboxRoutesDependencies): void {
  const stop = new AbortController();
  http.addHook('preClose', async () => stop.abort());
  http.register(async (scope) => {
    const { style, script } = await readAssets();
    registerInboxAssetsRoutes(scope, [style, script]);
    const assets = { style: style.url, script: script.url };
    const answerProblem = createAnswerProblem(assets);
    const context = { ...dependencies, stopping: stop.signal, assets, answerProblem };
    scope.register(
      async (entrance) => {
        answerInboxErrors(entrance, answerProblem);
        registerEnterInboxRoutes(entrance, context);
        entrance.register(async (inbox) => {
          guardInbox(inbox, dependencies.checkAccess, answerProblem);
          answerUnknownPages(inbox, answerProblem);
          ignoreBodies(inbox);
          registerInboxPageRoutes(inbox, context);
          registerMessageContentRoutes(inbox, context);
          registerLiveUpdatesRoutes(inbox, context);
          registerFindMessagesRoutes(inbox, context);
          registerEmptyInboxRoutes(inbox, context);
        });
      },
      { prefix: '/inbox' },
    );
  });
}

/** No request here needs a body; a form sends an empty one. */
function ignoreBodies(inbox: Http): void {
  inbox.removeAllContentTypeParsers();
  inbox.addContentTypeParser('*', { parseAs: 'string' }, (_request, _body, done) => done(null));
}

/** `GET /inbox/assets/…`: style and script of the pages, cached indefinitely. */
function registerInboxAssetsRoutes(http: Http, assets: readonly Asset[]): void {
  for (const { url, type, content } of assets) {
    http.get(url, async (_request, reply) =>
      reply
        .headers({
          'cache-control': 'public, max-age=31536000, immutable',
          'x-content-type-options': 'nosniff',
          'content-security-policy': "default-src 'none'",
        })
        .type(type)
        .send(content),
    );
  }
}

/**
 * `GET /inbox/enter?code=`: the link printed at startup. Its code works once and gives the browser a cookie, then
 * redirects to the inbox (303). A browser that already has access gets there with an old link too; others get a 401
 * with instructions.
 */
function registerEnterInboxRoutes(
  http: Http,
  { readers, checkAccess, answerProblem }: InboxContext,
): void {
  // Link scanners send HEAD requests before people follow the link.
  http.get('/enter', { exposeHeadRoute: false }, async (request, reply) => {
    setSecurityHeaders(reply);
    const { code } = request.query as Readonly<Record<string, unknown>>;
    const admitted = typeof code === 'string' && (await readers.admit(code, request, reply));
    if (admitted || (await checkAccess(request)) === 'open') return reply.redirect('/inbox', 303);
    const message = 'This link has expired or was used in another browser.';
    return answerProblem(request, reply, { status: 401, message });
  });
}

/**
 * `DELETE /inbox/api/messages?to=`: deletes all messages, or those to one envelope recipient; 204.
 * `POST /inbox/empty`: the button on the page; deletes all and redirects to the list (303).
 */
function registerEmptyInboxRoutes(http: Http, { store, arrivals }: InboxContext): void {
  http.delete('/api/messages', async (request, reply) => {
    await store.remove(readDeleteQuery(request.query as Readonly<Record<string, unknown>>));
    arrivals.announceEmptied();
    return reply.code(204).send();
  });
  http.post('/empty', async (_request, reply) => {
    await store.remove({ to: undefined, since: undefined });
    arrivals.announceEmptied();
    return reply.redirect('/inbox', 303);
  });
}

/** Handles errors below `/inbox`: 400 for an invalid parameter, 503 if the database is unavailable. */
function answerInboxErrors(inbox: Http, answerProblem: AnswerProblem): void {
  inbox.setErrorHandler((error, request, reply) => {
    if (error instanceof ParameterError) {
      const { message, parameter } = error;
      return answerProblem(request, reply, { status: 400, message, parameter });
    }
    if (isUnavailable(error)) {
      request.log.error({ err: error, requestId: request.id }, 'could not read the inbox');
      const message = 'The inbox is temporarily unavailable. Try again shortly.';
      return answerProblem(request, reply, { status: 503, message });
    }
    throw error;
  });
}

/** Responds to unknown paths with 404, after the access check of the scope. */
function answerUnknownPages(inbox: Http, answerProblem: AnswerProblem): void {
  inbox.setNotFoundHandler((request, reply) =>
    answerProblem(request, reply, { status: 404, message: 'This page doesn’t exist.' }),
  );
}

/** Heartbeat interval, so that both sides notice a lost connection. */
const heartbeatMs = 20_000;

/**
 * `GET /inbox/updates`: server-sent events (WHATWG HTML, section 9.2) for the pages. `arrived` and `emptied` carry no
 * data; the page then fetches itself again.
 */
function registerLiveUpdatesRoutes(
  http: Http,
  { arrivals, streams, stopping, answerProblem }: InboxContext,
): void {
  http.get('/updates', { exposeHeadRoute: false }, async (request, reply) => {
    const holding = streams.tryAcquire('.inbox');
    if (holding === undefined) {
      const message = 'Too many open inbox pages. Close some and try again.';
      return answerProblem(request, reply, { status: 503, message });
    }
    const stream = new Readable({ read: () => undefined });
    stream.push('retry: 2000\n\n');
    const unlisten = arrivals.listen(({ kind }) => {
      // Skips events for a slow page: one buffered event is enough to make it refresh.
      if (stream.readableLength < 1_024) stream.push(`event: ${kind}\ndata:\n\n`);
    });
    const heartbeat = setInterval(() => stream.push(':\n\n'), heartbeatMs);
    const end = (): void => {
      stream.push(null);
    };
    stopping.addEventListener('abort', end);
    stream.once('close', () => {
      holding.release();
      clearInterval(heartbeat);
      unlisten();
      stopping.removeEventListener('abort', end);
    });
    if (stopping.aborted) end();
    // Proxies such as nginx would hold events back.
    return reply.header('x-accel-buffering', 'no').type('text/event-stream').send(stream);
  });
}

/**
 * Allows a message's HTML only its own styles, embedded images and fonts, and links in new tabs. Blocks scripts, forms
 * and remote content, and gives the page an opaque origin.
 */
const mailPolicy = [
  'sandbox allow-popups allow-popups-to-escape-sandbox',
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  'img-src data:',
  'font-src data:',
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'self'",
].join('; ');

/**
 * `GET /inbox/messages/{id}/html`: the HTML part for the frame of the message page.
 * `GET /inbox/messages/{id}/source`: the original bytes of the message, as a download.
 */
function registerMessageContentRoutes(http: Http, { store, answerProblem }: InboxContext): void {
  const read = async (text: string): Promise<CapturedMessage | undefined> => {
    const id = parseInboxMessageId(text);
    return id && store.read(id);
  };
  http.get<{ Params: { id: string } }>('/messages/:id/html', async (request, reply) => {
    const message = await read(request.params.id);
    if (message === undefined || message.html === null) {
      return answerProblem(request, reply, { status: 404, message: 'HTML part not found.' });
    }
    // Without images, which can make it too large to prepare.
    const { html } = await prepareHtml(message.html);
    return reply
      .headers({
        'content-security-policy': mailPolicy,
        'referrer-policy': 'no-referrer',
        // Browsers would otherwise resolve the hosts of links in advance.
        'x-dns-prefetch-control': 'off',
      })
      .type('text/html; charset=utf-8')
      .send((await showCaptured({ html, source: message.source })).html);
  });
  http.get<{ Params: { id: string } }>('/messages/:id/source', async (request, reply) => {
    const message = await read(request.params.id);
    if (message === undefined) {
      return answerProblem(request, reply, { status: 404, message: 'Message not found.' });
    }
    return reply
      .header('content-disposition', `attachment; filename="${message.id}.eml"`)
      .header('content-security-policy', "default-src 'none'; sandbox")
      .type('message/rfc822')
      .send(message.source);
  });
}
