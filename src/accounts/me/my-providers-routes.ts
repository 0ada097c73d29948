import type { Kysely } from '../../base/database/open-database.ts';
import type { Http } from '../../host/http/create-http.ts';
import {
  changeWithoutLockout,
  describeLockout,
  lockoutScopeOf,
} from '../access/last-owner-store.ts';
import { recordAuditEvent } from '../audit/audit-store.ts';
import { notifyPerson } from '../notices/security-notice-store.ts';
import type { SessionContext } from '../session-context.ts';
import { originOf } from '../sign-in/form.ts';
import { backToMe, messagePage, seeOther, sendPage } from '../sign-in/pages/layout.ts';
import { removeProviderIdentity } from '../sign-in/single-sign-on/provider-identity-store.ts';
import { sendToProvider } from '../sign-in/single-sign-on/sign-in-oidc-routes.ts';

const rule = { access: 'full-reach', confirmed: true, page: '/me' } as const;

/**
 * `POST /me/providers/connect` sends a person to a provider to connect it (`finishSignInOidc` ends that), `POST
 * /me/providers/disconnect` disconnects one and ends the sessions that it began. Both ask people to confirm who they are.
 */
export function registerMyProvidersRoutes(scope: Http, context: SessionContext): void {
  const { database, facts, door, providers } = context;

  door.form(scope, '/me/providers/connect', rule, async ({ request, reply, person, form }) => {
    const { personId, email } = person;
    const account = form.get('account');
    const offered = await providers.listFor(person);
    const provider = offered.find(({ accountId }) => accountId === account);
    if (provider === undefined) return seeOther(reply, '/me');
    const options = { purpose: 'link', personId, next: '/me' } as const;
    // A link, because the page's policy lets forms lead only to this service.
    return sendToProvider(
      context,
      request,
      reply,
      provider,
      options,
      async (_, to, { name }, href) =>
        sendPage(
          to,
          messagePage(
            `Connect ${name}`,
            `Sign in to ${name} as the user that you want to connect to ${email}.`,
            200,
            { href, label: `Continue with ${name}` },
          ),
        ),
    );
  });

  door.form(scope, '/me/providers/disconnect', rule, async ({ request, reply, person, form }) => {
    const { personId } = person;
    const disconnect = async (transaction: Kysely) => {
      const id = form.get('identity') ?? '';
      const issuer = await removeProviderIdentity(transaction, person, id);
      if (issuer === undefined) return;
      await recordAuditEvent(transaction, {
        kind: 'sign_in_provider_disconnected',
        personId,
        origin: originOf(request),
        detail: { provider: issuer },
      });
      await notifyPerson(transaction, personId, 'provider-disconnected');
    };
    const locked = await database.kysely.transaction().execute(async (transaction) => {
      const scope = await lockoutScopeOf(transaction, personId);
      return changeWithoutLockout(transaction, facts, scope, () => disconnect(transaction));
    });
    return locked === undefined
      ? seeOther(reply, '/me?done=disconnected')
      : sendPage(
          reply,
          messagePage('Not disconnected', `${describeLockout(locked)}.`, 409, backToMe),
        );
  });
}
