import type { FastifyReply, FastifyRequest } from 'fastify';
import { isUniqueViolation } from '../../../base/database/sqlstate.ts';
import type { Http } from '../../../host/http/create-http.ts';
import { isOperator } from '../../access/operator-store.ts';
import { readAccounts } from '../../account/account-store.ts';
import { reachOf } from '../../account/reach.ts';
import { recordAuditEvent } from '../../audit/audit-store.ts';
import { notifyPerson } from '../../notices/security-notice-store.ts';
import type { SessionContext } from '../../session-context.ts';
import { completeSignIn } from '../complete-sign-in.ts';
import { originOf, recordRequest } from '../form.ts';
import { localPath } from '../local-path.ts';
import { backToMe, messagePage, seeOther, sendPage } from '../pages/layout.ts';
import { spendChallenge } from '../passkey/passkey-store.ts';
import { queryOf } from '../sign-in-routes.ts';
import { type Admission, admitPerson } from './admit-person.ts';
import { ProviderRefusal, ProviderUnavailable } from './provider-client.ts';
import { createProviderIdentity, findProviderIdentity } from './provider-identity-store.ts';
import { isUsableSubject, type ProviderClaims } from './read-provider-claims.ts';
import { type SignInFailure, signInFailureText } from './sign-in-failures.ts';
import type { SignInFlow } from './sign-in-flows.ts';
import { callbackPath, type SignInProvider } from './sign-in-provider.ts';

/**
 * `GET /sign-in/oidc?next=…` sends the browser to the installation's provider of OpenID Connect, and with `link=…` shows the way
 * to an account's; `GET /sign-in/confirm/oidc?next=…` sends a signed-in person to the one they signed in with, to confirm who they are. The provider
 * sends the browser back to `GET /sign-in/oidc/callback`, or `…/callback/:accountId`, which checks the response (OpenID
 * Connect Core section 3.1), signs the person in and continues to the local path `next`. Failures lead to the sign-in or
 * confirmation page, which says what to do.
 */
export function registerSignInOidcRoutes(scope: Http, context: SessionContext): void {
  const { browser, door, providers } = context;

  scope.get('/sign-in/oidc', async (request, reply) => {
    const next = localPath(queryOf(request, 'next'));
    const { isSignedIn } = await browser.visit(request, reply);
    if (isSignedIn) return seeOther(reply, next);
    // Links of release 0.2 name the account, which anyone can guess; they get the same answer for all accounts.
    const isGuess = queryOf(request, 'account') !== undefined;
    const provider = isGuess ? undefined : await providers.findByLink(queryOf(request, 'link'));
    if (provider === undefined)
      return showFailure(reply, { purpose: 'sign-in', next }, 'provider-missing');
    const options = { purpose: 'sign-in', personId: undefined, next } as const;
    const show = provider.accountId === undefined ? redirect : introduce;
    return sendToProvider(context, request, reply, provider, options, show);
  });

  const rule = { access: 'signed-in' } as const;
  door.page(scope, '/sign-in/confirm/oidc', rule, async ({ request, reply, person }) => {
    const next = localPath(queryOf(request, 'next'));
    const provider = await providers.findOf(person);
    if (provider === undefined)
      return showFailure(reply, { purpose: 'confirm', next }, 'provider-missing');
    const { personId } = person;
    return sendToProvider(context, request, reply, provider, {
      purpose: 'confirm',
      personId,
      next,
    });
  });

  for (const path of ['/sign-in/oidc/callback', '/sign-in/oidc/callback/:accountId'])
    scope.get(path, (request, reply) => finish(context, request, reply));
}

/** Begins a flow with a provider, and shows the way there. */
export async function sendToProvider(
  context: SessionContext,
  request: FastifyRequest,
  reply: FastifyReply,
  provider: SignInProvider,
  options: Pick<SignInFlow, 'purpose' | 'personId' | 'next'>,
  show: ShowProvider = redirect,
): Promise<FastifyReply> {
  const { providerClient, flows, log } = context;
  const flow = flows.begin(request, reply, provider, options);
  try {
    const href = await providerClient.authorizationUrl(provider, flow);
    return await show(context, reply, provider, href);
  } catch (error) {
    if (!(error instanceof ProviderUnavailable)) throw error;
    log.warn({ err: error, issuer: provider.issuer }, 'sign-in provider unavailable');
    return showFailure(reply, flow, 'provider-down', 503);
  }
}

type ShowProvider = (
  context: SessionContext,
  reply: FastifyReply,
  provider: SignInProvider,
  href: string,
) => Promise<FastifyReply>;

const redirect: ShowProvider = async (_context, reply, _provider, href) => seeOther(reply, href);

/**
 * An account's owners choose its provider, so people see where it leads before they go there. Only this page knows the flow's
 * state, so no other site can sign a browser in.
 */
const introduce: ShowProvider = async ({ database }, reply, { accountId, name }, href) => {
  const [account] = await readAccounts(database.kysely, accountId === undefined ? [] : [accountId]);
  const { host } = new URL(href);
  return sendPage(
    reply,
    messagePage(
      `Sign in to ${account?.name}`,
      `The account ${account?.name} (${accountId}) signs you in at ${host} with ${name}. It chose this provider. Continue only if you expect it.`,
      200,
      { href, label: `Continue to ${host}` },
      { href: '/sign-in', label: 'Sign in another way' },
    ),
  );
};

/** Ends a flow with the provider's response. */
async function finish(
  context: SessionContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { flows, providers, providerClient, database, log } = context;
  const flow = flows.end(request, reply, queryOf(request, 'state'));
  if (flow === undefined)
    return showFailure(reply, { purpose: 'sign-in', next: localPath(undefined) }, 'flow-expired');
  const provider = await providers.find(flow.accountId);
  const { pathname, search } = new URL(request.url, flow.redirectUri);
  // A response at another provider's path, or a provider that was replaced meanwhile.
  if (provider?.issuer !== flow.issuer || pathname !== callbackPath(flow))
    return showFailure(reply, flow, 'flow-expired');
  // Before the code is redeemed, so that a copied response is worth nothing.
  if (!(await spendChallenge(database.kysely, flows.challengeOf(flow))))
    return showFailure(reply, flow, 'flow-expired');
  try {
    const responseUrl = new URL(flow.redirectUri + search);
    const claims = await providerClient.redeem(provider, flow, responseUrl);
    const ended = { request, reply, flow, provider, claims };
    if (flow.purpose === 'confirm') return await confirm(context, ended);
    if (flow.purpose === 'link') return await connect(context, ended);
    return await signIn(context, ended);
  } catch (error) {
    const isDown = error instanceof ProviderUnavailable;
    if (!isDown && !(error instanceof ProviderRefusal)) throw error;
    log.warn({ err: error, issuer: provider.issuer }, 'sign-in with a provider failed');
    return showFailure(reply, flow, isDown ? 'provider-down' : 'provider-refused');
  }
}

/** A flow that the provider finished with claims that passed every check. */
interface EndedFlow {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly flow: SignInFlow;
  readonly provider: SignInProvider;
  readonly claims: ProviderClaims;
}

async function signIn(
  context: SessionContext,
  { request, reply, flow, provider, claims }: EndedFlow,
): Promise<FastifyReply> {
  const { database, facts, browser, secondFactors, clock } = context;
  const origin = originOf(request);
  let admission: Admission;
  try {
    admission = await database.kysely.transaction().execute(async (transaction) => {
      const asked = { settings: facts, provider, claims, origin };
      const admitted = await admitPerson(transaction, asked);
      const { refusal: reason, personId } = admitted;
      await recordAuditEvent(transaction, {
        kind: 'sign_in',
        outcome: reason === undefined ? 'success' : 'refused',
        personId,
        accountId: provider.accountId,
        origin,
        detail: { provider: provider.issuer, ...(reason && { reason }) },
      });
      return admitted;
    });
  } catch (error) {
    // The person was brought in by another sign-in at the same moment.
    if (isUniqueViolation(error)) return showFailure(reply, flow, 'flow-expired');
    throw error;
  }
  if (admission.refusal !== undefined) return showFailure(reply, flow, admission.refusal);
  const { personId, email, identityId } = admission;
  const { authenticatedAt, secondFactor } = claims;
  const complete = secondFactor || !(await secondFactors.has(personId));
  const proof = {
    identityId,
    reach: reachOf(provider.accountId ?? null),
    authenticatedAgo:
      authenticatedAt && Math.max(0, (clock.now() - authenticatedAt.getTime()) / 1_000),
    secondFactor,
  };
  const { next } = flow;
  if (!complete) {
    await browser.signIn(request, reply, personId, proof, false);
    return seeOther(reply, `/sign-in/code?${new URLSearchParams({ next })}`);
  }
  const signedIn = { personId, email, provider: proof };
  await completeSignIn(context, request, reply, signedIn);
  return seeOther(reply, next);
}

/** Counts only for the session that began it, and only by the identity that the session comes from. */
async function confirm(
  { database, browser, door }: SessionContext,
  { request, reply, flow, provider, claims }: EndedFlow,
): Promise<FastifyReply> {
  const person = await door.find(request, { access: 'signed-in' });
  if (person === undefined || person.personId !== flow.personId)
    return showFailure(reply, { ...flow, purpose: 'sign-in' }, 'flow-expired');
  const identity = await findProviderIdentity(database.kysely, provider.accountId, claims);
  const isSame = identity !== undefined && identity.id === person.identityId;
  await recordRequest(database, request, {
    kind: 'sign_in_confirmed',
    outcome: isSame ? 'success' : 'refused',
    personId: person.personId,
    detail: { provider: provider.issuer },
  });
  if (!isSame) return showFailure(reply, flow, 'other-person');
  await browser.renew(request, reply, true);
  return seeOther(reply, flow.next);
}

/** Connects the provider's subject to the person who asked for it in this browser a moment ago. */
async function connect(
  { database, door }: SessionContext,
  { request, reply, flow, provider, claims }: EndedFlow,
): Promise<FastifyReply> {
  const person = await door.find(request, { access: 'full-reach', confirmed: true });
  if (person === undefined || person.personId !== flow.personId)
    return showFailure(reply, flow, 'flow-expired');
  if (!isUsableSubject(claims.subject)) return showFailure(reply, flow, 'unusable');
  const { personId } = person;
  const failure = await database.kysely.transaction().execute(async (transaction) => {
    if (provider.accountId !== undefined && (await isOperator(transaction, personId)))
      return 'operator';
    const identityId = await createProviderIdentity(transaction, {
      providerAccount: provider.accountId,
      issuer: claims.issuer,
      subject: claims.subject,
      personId,
      linked: true,
    });
    if (identityId === undefined) return 'taken';
    await recordAuditEvent(transaction, {
      kind: 'sign_in_provider_connected',
      personId,
      accountId: provider.accountId,
      origin: originOf(request),
      detail: { provider: provider.issuer },
    });
    await notifyPerson(transaction, personId, 'provider-connected');
    return undefined;
  });
  return failure === undefined
    ? seeOther(reply, '/me?done=connected')
    : showFailure(reply, flow, failure);
}

function showFailure(
  reply: FastifyReply,
  { purpose, next }: Pick<SignInFlow, 'purpose' | 'next'>,
  failed: SignInFailure,
  status = 409,
): FastifyReply {
  if (purpose === 'link') {
    const text = signInFailureText(failed) ?? '';
    return sendPage(reply, messagePage('Not connected', text, status, backToMe));
  }
  const page = purpose === 'confirm' ? '/sign-in/confirm' : '/sign-in';
  return seeOther(reply, `${page}?${new URLSearchParams({ next, failed })}`);
}
