import type { FastifyReply } from 'fastify';
import type { Database } from '../../base/database/open-database.ts';
import type { Http } from '../../host/http/create-http.ts';
import { plainPage, plainPagePolicy } from '../../host/http/plain-page.ts';
import { resubscribe, unsubscribe } from './unsubscribe-store.ts';
import type { UnsubscribeTokens } from './unsubscribe-token.ts';

export interface UnsubscribeRouteDependencies {
  readonly tokens: UnsubscribeTokens;
  readonly database: Database;
}

/**
 * `GET /u/{token}` only shows a page with a button, because programs follow links (RFC 8058 section 1). `POST
 * /u/{token}` unsubscribes, including one-click (section 3.2) without cookies or a redirect; `POST /u/{token}/undo`
 * reverts it.
 */
export function registerUnsubscribeRoutes(
  http: Http,
  dependencies: UnsubscribeRouteDependencies,
): void {
  const { tokens, database } = dependencies;
  http.register(async (scope) => {
    // Accept any form, including multipart; only the URL counts.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) =>
      done(null, body),
    );
    scope.get<{ Params: { token: string } }>('/u/:token', (request, reply) => {
      if (tokens.read(request.params.token) === undefined) return unknown(reply);
      return show(reply, askingPage(request.params.token));
    });
    scope.post<{ Params: { token: string } }>('/u/:token', async (request, reply) => {
      const found = tokens.read(request.params.token);
      if (found === undefined) return unknown(reply);
      const body = String(request.body);
      const how = body.includes('One-Click')
        ? 'one-click'
        : body.includes(pageField)
          ? 'page'
          : undefined;
      // RFC 8058 section 3.2: anything else isn't a request to unsubscribe.
      if (how === undefined) return show(reply, askingPage(request.params.token));
      await unsubscribe(database.kysely, found, how);
      return show(
        reply,
        plainPage('You’re unsubscribed', 'Changed your mind? You can subscribe again.', {
          label: 'Subscribe again',
          action: `/u/${request.params.token}/undo`,
        }),
      );
    });
    scope.post<{ Params: { token: string } }>('/u/:token/undo', async (request, reply) => {
      const found = tokens.read(request.params.token);
      if (found === undefined) return unknown(reply);
      await resubscribe(database.kysely, found);
      return show(reply, plainPage('You’re subscribed again', 'There’s nothing else to do.'));
    });
  });
}

/** A field of the page's form; the body of a program that probes the link doesn't have it. */
const pageField = 'unsubscribe';

function askingPage(token: string): string {
  return plainPage('Unsubscribe?', 'You’ll no longer get messages like this one from the sender.', {
    label: 'Unsubscribe',
    action: `/u/${token}`,
    field: pageField,
  });
}

function unknown(reply: FastifyReply): FastifyReply {
  const text =
    'Your email app may have cut it off. Reply to the message and ask to be unsubscribed.';
  return show(reply.code(404), plainPage('Incomplete link', text));
}

function show(reply: FastifyReply, page: string): FastifyReply {
  return reply
    .header('cache-control', 'no-store')
    .header('referrer-policy', 'no-referrer')
    .header('content-security-policy', plainPagePolicy)
    .type('text/html; charset=utf-8')
    .send(page);
}
