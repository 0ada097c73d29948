import { html } from '../../base/values/html.ts';
import type { Http } from '../../host/http/create-http.ts';
import { endSessionsPath } from '../notices/mailed-links.ts';
import { revokePersonTokens } from '../oauth/revoke-tokens-store.ts';
import type { SessionContext } from '../session-context.ts';
import { recordRequest } from './form.ts';
import { messagePage, type Page, sendPage } from './pages/layout.ts';

/** Asks before ending all sessions. */
function endSessionsPage(token: string): Page {
  const title = 'Sign out everywhere?';
  const body = html`<h1>${title}</h1>
<p>This ends all your sessions, and apps lose access. If someone knows your password, set a new one afterward.</p>
<form method="post" action="${endSessionsPath}/${token}">
<div class="actions"><button type="submit">Sign out everywhere</button></div>
</form>`;
  return { title, body };
}

/** For a link that isn't valid. */
const invalidEndSessionsPage: Page = messagePage(
  'Link expired',
  'The link works for 7 days. Sign in to end your sessions.',
  404,
  { href: '/me', label: 'Sign-in and security' },
);

/**
 * `GET` and `POST /end-sessions/TOKEN`: signs a person out everywhere with the link of a security notice, without signing in. A
 * GET changes nothing, since mail scanners open links.
 */
export function registerEndSessionsRoutes(
  scope: Http,
  { database, endSessionsLinks }: SessionContext,
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
    const kind = 'sessions_ended';
    await recordRequest(database, request, { kind, personId, detail: { link: true } });
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
