import type { AuditStore } from '../audit/audit-store.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { Http } from '../http/create-http.ts';
import { type EndSessionsLinks, endSessionsPath } from '../outbox/mailed-links.ts';
import { originOf } from './form-body.ts';
import { endSessionsPage, invalidEndSessionsPage } from './pages/end-sessions-page.ts';
import { sendPage } from './pages/layout.ts';
import { messagePage } from './pages/message-page.ts';
import { revokePersonTokens } from './revoke-tokens-store.ts';

export interface EndSessionsDependencies {
  readonly database: Database;
  readonly endSessionsLinks: EndSessionsLinks;
  readonly audit: AuditStore;
}

/**
 * `GET` and `POST /end-sessions/TOKEN`: signs a person out everywhere with the link of a security notice, without signing in. A
 * GET changes nothing, since mail scanners open links.
 */
export function registerEndSessionsRoutes(
  scope: Http,
  { database, endSessionsLinks, audit }: EndSessionsDependencies,
): void {
  const path = `${endSessionsPath}/:token`;

  scope.get<{ Params: { token: string } }>(path, async (request, reply) => {
    const { token } = request.params;
    const isValid = endSessionsLinks.read(token) !== undefined;
    return sendPage(reply, isValid ? endSessionsPage(token) : invalidEndSessionsPage);
  });

  scope.post<{ Params: { token: string } }>(path, async (request, reply) => {
    const personId = endSessionsLinks.read(request.params.token);
    if (personId === undefined) return sendPage(reply, invalidEndSessionsPage);
    await database.kysely
      .transaction()
      .execute((transaction) => revokePersonTokens(transaction, personId));
    await audit.record({
      kind: 'sessions_ended',
      outcome: 'success',
      personId,
      origin: originOf(request),
      detail: { link: true },
    });
    return sendPage(
      reply,
      messagePage(
        'Signed out everywhere',
        'All your sessions ended, and integrations lost access. Now set a new password.',
        200,
        { href: '/forgot-password', label: 'Set a new password' },
      ),
    );
  });
}
