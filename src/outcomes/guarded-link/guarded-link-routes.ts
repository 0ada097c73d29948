import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Account } from '../../accounts/account/account.ts';
import type { Database } from '../../base/database/open-database.ts';
import type { AccountId } from '../../base/values/ids.ts';
import type { Log } from '../../base/values/log.ts';
import type { MaybePromise } from '../../base/values/maybe-promise.ts';
import { type GuardedLinks, guardedLinkPath } from '../../content/message/guarded-link.ts';
import type { Http } from '../../host/http/create-http.ts';
import { classifyRequest } from '../tracking/click-routes.ts';
import {
  buttonField,
  guardedLinkPage,
  guardedLinkPolicy,
  type PageFacts,
} from './guarded-link-page.ts';
import { visitGuardedLink } from './guarded-link-store.ts';
import type { GuardedLinkPage } from './guarded-link-texts.ts';

export interface GuardedLinkRouteDependencies {
  readonly guardedLinks: GuardedLinks;
  readonly database: Pick<Database, 'kysely'>;
  readonly findAccount: (accountId: AccountId) => MaybePromise<Account | undefined>;
  readonly log: Log;
}

const statuses: Readonly<Record<GuardedLinkPage, number>> = {
  open: 200,
  expired: 410,
  ended: 410,
  incomplete: 404,
  unavailable: 503,
};

/**
 * `GET /g/{token}`, and HEAD, show a page that names the target's host and has a button, because programs follow links. `POST
 * /g/{token}` with the button's field leads on (303). While the database can't tell whether the link was revoked, both answer 503.
 */
export function registerGuardedLinkRoutes(
  http: Http,
  { guardedLinks, database, findAccount, log }: GuardedLinkRouteDependencies,
): void {
  async function visit(
    request: FastifyRequest<{ Params: { token: string } }>,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    const link = guardedLinks.read(request.params.token);
    const accepted = request.headers['accept-language'] ?? '';
    if (link === undefined) return show(reply, 'incomplete', { locales: accepted });
    const isPressed = new URLSearchParams(String(request.body)).has(buttonField);
    const kind = isPressed ? 'link-confirmed' : 'link-scanned';
    const reader = classifyRequest(request, 'clicked');
    const locales = `${link.locales},${accepted}`;
    try {
      const account = await findAccount(link.accountId);
      // The links of a suspended account, which may be an impostor's, don't work until the suspension ends.
      const isActive = account?.suspended === false;
      const state = isActive
        ? await visitGuardedLink(database.kysely, link, kind, reader)
        : 'ended';
      if (state === 'open' && isPressed)
        return reply.code(303).headers(privateHeaders).header('location', link.target).send();
      const { host } = new URL(link.target);
      return show(reply, state, { locales, account: account?.name, host });
    } catch (error) {
      log.warn({ err: error }, 'could not read the state of a guarded link');
      return show(reply.header('retry-after', 60), 'unavailable', { locales });
    }
  }

  http.register(async (scope) => {
    // Accept any body; only the button's field counts.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) =>
      done(null, body),
    );
    scope.get(`${guardedLinkPath}:token`, visit);
    scope.post(`${guardedLinkPath}:token`, visit);
  });
}

const privateHeaders = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex, nofollow',
} as const;

function show(reply: FastifyReply, page: GuardedLinkPage, facts: PageFacts): FastifyReply {
  return reply
    .code(statuses[page])
    .headers(privateHeaders)
    .header('content-security-policy', guardedLinkPolicy(page))
    .type('text/html; charset=utf-8')
    .send(guardedLinkPage(page, facts));
}
