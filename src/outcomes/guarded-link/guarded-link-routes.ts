import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Account } from '../../accounts/account/account.ts';
import type { Database } from '../../base/database/open-database.ts';
import type { AccountId } from '../../base/values/ids.ts';
import type { Log } from '../../base/values/log.ts';
import type { MaybePromise } from '../../base/values/maybe-promise.ts';
import {
  type GuardedLink,
  type GuardedLinks,
  guardedLinkPath,
} from '../../content/message/guarded-link.ts';
import type { Http } from '../../host/http/create-http.ts';
import { classifyRequest } from '../tracking/click-routes.ts';
import {
  buttonField,
  guardedLinkPage,
  guardedLinkPolicy,
  type PageFacts,
} from './guarded-link-page.ts';
import { type GuardedLinkState, visitGuardedLink } from './guarded-link-store.ts';
import type { GuardedLinkPage } from './guarded-link-texts.ts';

export interface GuardedLinkRouteDependencies {
  readonly links: GuardedLinks;
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
  dependencies: GuardedLinkRouteDependencies,
): void {
  const { links, database, findAccount, log } = dependencies;

  async function visit(
    request: FastifyRequest,
    reply: FastifyReply,
    token: string,
    pressed: boolean,
  ): Promise<FastifyReply> {
    const link = links.read(token);
    const accepted = String(request.headers['accept-language'] ?? '');
    if (link === undefined) return show(reply, 'incomplete', { locale: accepted });
    const locale = `${link.locales},${accepted}`;
    let account: Account | undefined;
    let state: GuardedLinkState;
    try {
      account = await findAccount(link.accountId);
      state = await readState(request, link, account, pressed);
    } catch (error) {
      log.warn({ err: error }, 'could not read the state of a guarded link');
      return show(reply.header('retry-after', 60), 'unavailable', { locale });
    }
    if (state === 'open' && pressed)
      return reply.code(303).headers(privateHeaders).header('location', link.target).send();
    return show(reply, state, { locale, account: account?.name, host: new URL(link.target).host });
  }

  /** The links of a suspended account, which may be an impostor's, don't work until the suspension ends. */
  async function readState(
    request: FastifyRequest,
    link: GuardedLink,
    account: Account | undefined,
    pressed: boolean,
  ): Promise<GuardedLinkState> {
    if (account === undefined || account.suspended) return 'ended';
    const kind = pressed ? 'link-confirmed' : 'link-scanned';
    return visitGuardedLink(database.kysely, link, kind, classifyRequest(request, 'clicked'));
  }

  http.register(async (scope) => {
    // Accept any body; only the button's field counts.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) =>
      done(null, body),
    );
    const path = `${guardedLinkPath}:token` as const;
    scope.get<{ Params: { token: string } }>(path, (request, reply) =>
      visit(request, reply, request.params.token, false),
    );
    scope.post<{ Params: { token: string } }>(path, (request, reply) =>
      visit(
        request,
        reply,
        request.params.token,
        new URLSearchParams(String(request.body)).has(buttonField),
      ),
    );
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
