import type { FastifyReply } from 'fastify';
import { isUnavailable } from '../../base/database/sqlstate.ts';
import type { Http } from '../../host/http/create-http.ts';
import { skipBody } from '../../host/http/read-body.ts';
import { answerProblem } from './answer-problem.ts';
import {
  type FindMessagesDependencies,
  registerFindMessagesRoutes,
} from './find-messages-routes.ts';
import {
  type CheckInboxAccess,
  guardInbox,
  type InboxReaders,
  setSecurityHeaders,
} from './inbox-access.ts';
import { parseInboxMessageId } from './inbox-message.ts';
import { ParameterError, readDeleteQuery } from './message-parameters.ts';

export interface InboxRoutesDependencies extends Omit<FindMessagesDependencies, 'stopping'> {
  readonly readers: Pick<InboxReaders, 'admit'>;
  readonly checkAccess: CheckInboxAccess;
}

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

/** Everything below `/inbox`. Only the entry link and what leads to the console are available without access. */
export function registerInboxRoutes(http: Http, dependencies: InboxRoutesDependencies): void {
  const stop = new AbortController();
  http.addHook('preClose', async () => stop.abort());
  http.register(
    async (entrance) => {
      answerInboxErrors(entrance);
      registerEnterInboxRoutes(entrance, dependencies);
      registerFormerPageRoutes(entrance);
      entrance.register(async (inbox) => {
        guardInbox(inbox, dependencies.checkAccess);
        answerUnknownPages(inbox);
        ignoreBodies(inbox);
        registerFindMessagesRoutes(inbox, { ...dependencies, stopping: stop.signal });
        registerEmptyInboxRoutes(inbox, dependencies);
      });
    },
    { prefix: '/inbox' },
  );
}

/** No request here needs a body. */
function ignoreBodies(inbox: Http): void {
  inbox.removeAllContentTypeParsers();
  inbox.addContentTypeParser('*', { parseAs: 'string' }, (_request, _body, done) => done(null));
}

/** The console's page with all captured mail. No account has an ID with a dot. */
function pageUrl(filters: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams(filters);
  return `/console/.server/inbox${query.size === 0 ? '' : `?${query}`}`;
}

/**
 * `GET /inbox/enter?code=`: the link printed at startup. Its code works once and gives the browser a cookie, then
 * redirects to the inbox (303). A browser that already has access gets there with an old link too; others get a 401, or
 * the page that says how to get access.
 */
function registerEnterInboxRoutes(
  http: Http,
  { readers, checkAccess }: InboxRoutesDependencies,
): void {
  // Link scanners send HEAD requests before people follow the link.
  http.get('/enter', { exposeHeadRoute: false }, async (request, reply) => {
    setSecurityHeaders(reply);
    const { code } = request.query as Readonly<Record<string, unknown>>;
    const admitted = typeof code === 'string' && (await readers.admit(code, request, reply));
    const isPerson = request.headers.accept?.includes('text/html') === true;
    if (admitted || isPerson || (await checkAccess(request)) === 'open')
      return reply.redirect(pageUrl(), 303);
    const message = 'This link has expired or was used in another browser.';
    return answerProblem(request, reply, { status: 401, message });
  });
}

/** `GET /inbox?q=`, `GET /inbox/messages/{id}` and what was below it: redirect to the console's page, for old bookmarks. */
function registerFormerPageRoutes(http: Http): void {
  const redirect = (reply: FastifyReply, filters?: Parameters<typeof pageUrl>[0]) => {
    setSecurityHeaders(reply);
    return reply.redirect(pageUrl(filters), 302);
  };
  http.get('/', async (request, reply) => {
    const { q } = request.query as Readonly<Record<string, unknown>>;
    return redirect(reply, typeof q === 'string' && q !== '' ? { search: q.toWellFormed() } : {});
  });
  http.get<{ Params: { '*': string } }>('/messages/*', async (request, reply) => {
    const mail = parseInboxMessageId(request.params['*'].split('/')[0] ?? '');
    return redirect(reply, mail && { mail });
  });
}

/** `DELETE /inbox/api/messages?to=`: deletes all messages, or those to one envelope recipient; 204. */
function registerEmptyInboxRoutes(http: Http, { store }: InboxRoutesDependencies): void {
  http.delete('/api/messages', async (request, reply) => {
    await store.remove(readDeleteQuery(request.query as Readonly<Record<string, unknown>>));
    return reply.code(204).send();
  });
}

/** Handles errors below `/inbox`: 400 for an invalid parameter, 503 if the database is unavailable. */
function answerInboxErrors(inbox: Http): void {
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
function answerUnknownPages(inbox: Http): void {
  inbox.setNotFoundHandler((request, reply) =>
    answerProblem(request, reply, { status: 404, message: 'This page doesn’t exist.' }),
  );
}
