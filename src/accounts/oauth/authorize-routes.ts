import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Html, html } from '../../base/values/html.ts';
import type { AccountId } from '../../base/values/ids.ts';
import type { Http } from '../../host/http/create-http.ts';
import { authorize, type Refusal } from '../access/authorize.ts';
import { tokenOperations } from '../access/token-operations.ts';
import type { ReachedPerson } from '../account/reach.ts';
import type { SessionContext } from '../session-context.ts';
import { principalOf } from '../sign-in/browser/browser-session-store.ts';
import type { FormCall, PageCall } from '../sign-in/browser/page-door.ts';
import { signInPath } from '../sign-in/local-path.ts';
import { messagePage, openForm, type Page, seeOther, sendPage } from '../sign-in/pages/layout.ts';
import { saveAuthorizationCode } from './authorization-code-store.ts';
import {
  AuthorizationRefused,
  type AuthorizationRequest,
  formActionSource,
  type ResponseTarget,
  readAuthorizationRequest,
  UnusableRequest,
  withParameters,
} from './authorization-request.ts';
import { readConsentState, readReachedAccounts } from './consent-store.ts';

interface ConsentPage {
  readonly csrf: string;
  /** The query of the authorization request. */
  readonly query: string;
  readonly integrationName: string;
  readonly clientId: string;
  /** The name of the account that registered it; undefined if the person doesn't belong to it. */
  readonly owner: string | undefined;
  /** The host that the browser is redirected to afterwards. */
  readonly target: string;
  readonly formAction: string;
  readonly email: string;
  readonly accounts: readonly { readonly id: AccountId; readonly name: string }[];
  readonly chosen: AccountId | undefined;
  /** Whether the person allowed this integration before. */
  readonly allowedBefore: boolean;
}

const allowed = Object.values(tokenOperations).map(
  ({ allows }) => html`<li>${allows.charAt(0).toUpperCase()}${allows.slice(1)}</li>\n`,
);

/** Asks whether an integration may act in one of the person's accounts. */
function consentPage(page: ConsentPage): Page {
  const title = `${page.integrationName} wants access to your account`;
  const body = html`<h1>${title}</h1>
<p class="soft">Registered by ${page.owner === undefined ? 'another account' : html`<strong>${page.owner}</strong>`} · Client ID <code>${page.clientId}</code>${page.allowedBefore ? html`<br>You’ve allowed it before.` : ''}</p>
${openForm(`/authorize?${page.query}`, { csrf: page.csrf })}
${accountChoice(page)}
<p id="may">As far as your role allows, it can:</p>
<ul class="may" aria-labelledby="may">
${allowed}</ul>
<p class="soft">It can’t change settings, see your contacts, manage users or keys, or act in another account.</p>
<p class="soft">You’ll be sent to <strong>${page.target}</strong>. You can revoke access at any time under <a href="/me">Sign-in and security</a>.</p>
<div class="actions equal">
<button type="submit" name="decision" value="deny" class="quiet">Decline</button>
<button type="submit" name="decision" value="allow">Allow</button>
</div>
</form>
${openForm('/sign-out', { csrf: page.csrf }, 'foot')}
<input type="hidden" name="next" value="/authorize?${page.query}">
Signed in as ${page.email}. <button type="submit" class="link">Sign in as someone else</button>
</form>`;
  return { title, body, formAction: page.formAction };
}

function accountChoice({ accounts, chosen }: ConsentPage): Html {
  const [only] = accounts;
  if (accounts.length === 1 && only !== undefined)
    return html`<input type="hidden" name="account" value="${only.id}">
<p>Account: <strong>${only.name}</strong> <span class="soft">(${only.id})</span></p>`;
  const choices = accounts.map(
    ({ id, name }) =>
      html`<label class="choice"><input type="radio" name="account" value="${id}" required ${id === chosen ? 'checked' : ''}><span>${name} <span class="soft">(${id})</span></span></label>`,
  );
  return html`<fieldset><legend>Choose an account</legend>${choices}</fieldset>`;
}

/** Shown to a session of an account's provider if the person uses the integration beyond that account. */
function usedBeyondPage({ name }: { readonly name: string }): Page {
  return messagePage(
    'Sign in another way',
    `You signed in with your account’s provider, but you use ${name} outside this account. To connect it again, sign in with your password or a passkey.`,
    409,
    { href: '/me', label: 'Sign-in and security' },
  );
}

/** Shown instead of a consent page if it's unclear which integration asks, or where to send the person afterwards. */
function unusableRequestPage({ message }: UnusableRequest): Page {
  const title = 'This app can’t be connected';
  const body = html`<h1>${title}</h1>
<p>Go back to the app and try again, or contact its developer.</p>
<p class="soft">${message}</p>`;
  return { title, body, status: 400 };
}

/**
 * `GET /authorize` (contract section 4.2): sign-in if needed, then always the consent page. Once the person is signed
 * in, errors go to the integration.
 * `POST /authorize` with the same query: the person's decision; the response redirects to the integration.
 */
export function registerAuthorizeRoutes(scope: Http, context: SessionContext): void {
  const { door } = context;
  const rule = {
    access: 'signed-in',
    // Strangers see nothing else and aren't redirected to integrations: anyone who can register one could create links to
    // this service that redirect to their own page (RFC 9700 section 4.11.2).
    async answerStranger(request: FastifyRequest, reply: FastifyReply) {
      try {
        await readRequest(context, request);
      } catch (error) {
        if (error instanceof UnusableRequest) return sendPage(reply, unusableRequestPage(error));
        if (!(error instanceof AuthorizationRefused)) throw error;
      }
      return seeOther(reply, signInPath(`/authorize?${queryTextOf(request)}`));
    },
  } as const;
  door.page(scope, '/authorize', rule, (call) =>
    answer(context, call, (authorization) => showConsent(context, call, authorization)),
  );
  door.form(scope, '/authorize', rule, (call) =>
    answer(context, call, (authorization) => decide(context, call, authorization)),
  );
}

function queryTextOf({ url }: Pick<FastifyRequest, 'url'>): string {
  return url.includes('?') ? url.slice(url.indexOf('?') + 1) : '';
}

/** Parses the authorization request again at every step, so that no form needs to be trusted. */
function readRequest(
  { integrations }: SessionContext,
  request: FastifyRequest,
): Promise<AuthorizationRequest> {
  return readAuthorizationRequest(queryTextOf(request), (id) => integrations.integration(id));
}

async function answer(
  context: SessionContext,
  { request, reply }: PageCall,
  proceed: (authorization: AuthorizationRequest) => Promise<FastifyReply>,
): Promise<FastifyReply> {
  try {
    return await proceed(await readRequest(context, request));
  } catch (error) {
    if (error instanceof UnusableRequest) return sendPage(reply, unusableRequestPage(error));
    if (!(error instanceof AuthorizationRefused)) throw error;
    return redirectToClient(context, reply, error.target, {
      error: error.error,
      error_description: error.message,
    });
  }
}

/** Redirects to the integration, naming the issuer to prevent mix-up attacks (RFC 9207). */
function redirectToClient(
  { publicUrl }: SessionContext,
  reply: FastifyReply,
  { redirectUri, state }: ResponseTarget,
  parameters: Readonly<Record<string, string>>,
): FastifyReply {
  return seeOther(reply, withParameters(redirectUri, { ...parameters, state, iss: publicUrl() }));
}

interface ConsentAccounts {
  readonly admitted: readonly { readonly id: AccountId; readonly name: string }[];
  /** Why others aren't. */
  readonly refusals: ReadonlySet<Refusal>;
}

/** The accounts whose access policy admits this session; all roles have the permission. */
async function findAccounts(
  { database, facts }: SessionContext,
  { request, person }: PageCall,
): Promise<ConsentAccounts> {
  const accounts = await readReachedAccounts(database.kysely, person);
  const decisions = await Promise.all(
    accounts.map(({ id }) =>
      authorize(facts, principalOf(person), {
        api: 'contract',
        access: 'lists:read',
        accountText: id,
        remoteAddress: () => request.ip,
      }),
    ),
  );
  return {
    admitted: accounts.filter((_, index) => decisions[index]?.refusal === undefined),
    refusals: new Set(decisions.flatMap(({ refusal }) => refusal ?? [])),
  };
}

async function showConsent(
  context: SessionContext,
  call: PageCall,
  authorization: AuthorizationRequest,
): Promise<FastifyReply> {
  const { request, reply, csrf, person } = call;
  const { client, redirectUri } = authorization;
  const [{ admitted: accounts, refusals }, { chosen, isUsedBeyond }] = await Promise.all([
    findAccounts(context, call),
    readConsentState(context.database.kysely, person, client.clientId),
  ]);
  if (isUsedBeyond) return sendPage(reply, usedBeyondPage(client));
  if (accounts.length === 0 && refusals.has('unconfirmed'))
    return seeOther(reply, `/sign-in/confirm?${new URLSearchParams({ next: request.url })}`);
  if (accounts.length === 0)
    throw new AuthorizationRefused(
      'access_denied',
      refusals.size === 0
        ? 'The user belongs to no account'
        : 'The access policy of the user’s accounts doesn’t admit this sign-in',
      authorization,
    );
  const selectedAccount = accounts.find(({ id }) => id === chosen) ?? accounts[0];
  return sendPage(
    reply,
    consentPage({
      csrf,
      query: queryTextOf(request),
      integrationName: client.name,
      clientId: client.clientId,
      owner: accounts.find(({ id }) => id === client.accountId)?.name,
      target: new URL(redirectUri).host || redirectUri,
      formAction: formActionSource(redirectUri),
      email: person.email,
      accounts,
      chosen: selectedAccount?.id,
      allowedBefore: chosen !== undefined,
    }),
  );
}

async function decide(
  context: SessionContext,
  call: FormCall,
  authorization: AuthorizationRequest,
): Promise<FastifyReply> {
  const { request, reply, person, form } = call;
  const { client } = authorization;
  const record = (outcome: 'success' | 'refused', accountId?: AccountId) =>
    call.record('consent', { outcome, clientId: client.clientId, accountId });

  if (form.get('decision') !== 'allow') {
    await record('refused');
    throw new AuthorizationRefused('access_denied', 'The user declined', authorization);
  }
  const { admitted } = await findAccounts(context, call);
  const account = admitted.find(({ id }) => id === form.get('account'));
  // The person left this account since the page was shown, or chose none.
  if (account === undefined) return seeOther(reply, request.url);
  const code = await issueAuthorizationCode(context, authorization, person, account.id);
  if (code === undefined) {
    await record('refused', account.id);
    return sendPage(reply, usedBeyondPage(client));
  }
  await record('success', account.id);
  return redirectToClient(context, reply, authorization, { code });
}

/** @returns undefined if the person uses the integration beyond what their session reaches */
async function issueAuthorizationCode(
  { database, mint }: SessionContext,
  { client, redirectUri, redirectUriSent, codeChallenge }: AuthorizationRequest,
  person: ReachedPerson,
  accountId: AccountId,
): Promise<string | undefined> {
  const code = mint.mint('code');
  const isSaved = await saveAuthorizationCode(database.kysely, code.hash, person, {
    clientId: client.clientId,
    accountId,
    redirectUri,
    redirectUriSent,
    codeChallenge,
  });
  return isSaved ? code.text : undefined;
}
