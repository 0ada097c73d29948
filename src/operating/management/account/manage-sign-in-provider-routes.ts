import { isIP } from 'node:net';
import { type Static, Type } from 'typebox';
import { hasVerifiedDomain } from '../../../accounts/sender/sending-domain-store.ts';
import {
  AccountProviderStore,
  toMemberRules,
} from '../../../accounts/sign-in/single-sign-on/account-provider-store.ts';
import {
  callbackPath,
  providerRoles,
  providerSignInPath,
  type SignInProvider,
} from '../../../accounts/sign-in/single-sign-on/sign-in-provider.ts';
import type { DatabaseTransaction } from '../../../base/database/open-database.ts';
import {
  Flag,
  NamedObject,
  Nullable,
  optional,
  StrictObject,
  Text,
} from '../../../base/values/common-schemas.ts';
import { parseMailDomain } from '../../../base/values/mail-domain.ts';
import type { Wire } from '../../../base/values/wire.ts';
import { invalidField } from '../answer/problem.ts';
import { viewOf } from '../answer/view-of.ts';
import type { OperationCall } from '../operation.ts';
import { resourceRoutes } from '../resource-routes.ts';
import { keepingOwners } from './manage-account-routes.ts';

const maxRules = 200;

const RuleView = NamedObject('SignInProviderRule', {
  role: Type.Enum([...providerRoles]),
  group: Nullable(Text('Of the claim `groups`.')),
  domain: Nullable(Text('Of a verified email address.')),
});

const SignInProviderView = NamedObject('SignInProvider', {
  name: Type.String(),
  issuer: Type.String(),
  clientId: Type.String(),
  trustEmail: Type.Boolean(),
  members: Type.Array(RuleView),
  callbackUrl: Text('The redirect URI to register at the provider.'),
  signInUrl: Text('Where the account’s people sign in.'),
});

const SignInProviderBody = StrictObject({
  name: Text('Name of the provider: “Sign in with …”.', {
    examples: ['Shop'],
    minLength: 1,
    maxLength: 100,
    pattern: '^[^\\u0000-\\u001f]+$',
  }),
  issuer: Text('Issuer of the OpenID Connect provider, an https URL.', {
    examples: ['https://login.shop.example'],
    maxLength: 500,
  }),
  clientId: Type.String({
    examples: ['signalpost'],
    minLength: 1,
    maxLength: 300,
    pattern: '^[\\x20-\\x7e]+$',
  }),
  ...optional({
    clientSecret: Text('Client secret. Default: the stored one, if issuer and client ID stay.', {
      minLength: 1,
      maxLength: 1_000,
      pattern: '^[\\x20-\\x7e]+$',
    }),
    trustEmail: Flag(
      'Treats addresses as verified even if the provider doesn’t say so. Default: false.',
    ),
  }),
  members: Type.Array(
    StrictObject({
      role: Type.Enum([...providerRoles]),
      group: Type.Optional(
        Nullable(Type.String({ minLength: 1, maxLength: 256, pattern: '^[^\\u0000]+$' })),
      ),
      domain: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 253 }))),
    }),
    {
      description:
        'Who becomes a member when they sign in: people in a group, or with an address in a verified domain of the account. The most powerful role applies.',
      maxItems: maxRules,
    },
  ),
});

function viewProvider(
  call: OperationCall,
  provider: SignInProvider,
): Wire<Static<typeof SignInProviderView>> {
  const publicUrl = call.dependencies.publicUrl();
  return viewOf(SignInProviderView)({
    ...provider,
    members: provider.members.map(({ role, who }) => ({
      role,
      group: 'group' in who ? who.group : null,
      domain: 'domain' in who ? who.domain : null,
    })),
    callbackUrl: publicUrl + callbackPath(provider),
    signInUrl: publicUrl + providerSignInPath(provider, '/console'),
  });
}

export const signInProviderRoutes = resourceRoutes({
  path: '/accounts/:accountId/sign-in-provider',
  access: { read: 'users:read', write: 'users:write' },
  view: SignInProviderView,
  resource: (call) => ({
    kind: 'sign_in_provider',
    id: call.params.accountId,
    async read(transaction: DatabaseTransaction) {
      const store = new AccountProviderStore(call.dependencies.key);
      const provider = await store.find(transaction, call.params.accountId);
      return provider && viewProvider(call, provider);
    },
  }),
  get: { id: 'getSignInProvider', summary: 'Get the account’s sign-in provider' },
  put: {
    id: 'putSignInProvider',
    confirmed: true,
    summary: 'Set the account’s sign-in provider',
    description:
      'People sign in with it to this account only. It can admit people whose address is in a verified domain of the account. Another issuer disconnects everyone from the old one. An omitted secret stays, other omitted members become their default.',
    body: SignInProviderBody,
    write(call) {
      const { name, issuer, clientId, clientSecret, trustEmail = false, members } = call.body;
      const { accountId: id } = call.params;
      checkIssuer(call, issuer);
      const rules = members.map((rule, index) => checkRule(rule, index));
      return async (transaction) => {
        await requireVerifiedDomains(transaction, call, rules);
        const provider = {
          name: name.trim(),
          issuer,
          clientId,
          trustEmail,
          members: toMemberRules(id, rules),
        };
        const store = new AccountProviderStore(call.dependencies.key);
        await keepingOwners(call, transaction, lockedOut('Another issuer'), async () => {
          if (!(await store.save(transaction, id, provider, clientSecret)))
            throw invalidField(
              'clientSecret',
              'is required for a new provider, issuer or client ID. Send the client’s secret',
            );
        });
      };
    },
  },
  remove: {
    id: 'deleteSignInProvider',
    confirmed: true,
    summary: 'Remove the account’s sign-in provider',
    description: 'Ends its sessions. Memberships stay.',
    write: (call) => (transaction) =>
      keepingOwners(call, transaction, lockedOut('Its removal'), () =>
        new AccountProviderStore(call.dependencies.key).remove(transaction, call.params.accountId),
      ),
  },
});

/** Why a change of the only way in of the owners is refused. */
function lockedOut(what: string): string {
  return `${what} would lock all owners out, who sign in with the provider. Set signIn of the access policy to own-choice, and give an owner a password or passkey at /me first`;
}

type Rule = Static<typeof SignInProviderBody>['members'][number];

/** OpenID Connect Discovery section 3; names are resolved and checked per request. */
function checkIssuer(call: OperationCall, text: string): void {
  const { networks } = call.dependencies.webhooks;
  const url = URL.parse(text);
  if (url === null || !['https:', 'http:'].includes(url.protocol) || /[?#]/.test(text))
    throw invalidField('issuer', 'must be an https URL without a query');
  if (url.username !== '' || url.password !== '')
    throw invalidField('issuer', 'must not contain credentials');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isAllowed = isIP(host) === 0 ? networks.allowsName(host) : networks.allows(host);
  if (!isAllowed) throw invalidField('issuer', 'must be a public address');
  if (url.protocol === 'http:' && !networks.isTrusted(host))
    throw invalidField('issuer', 'must use https');
}

function checkRule({ role, group, domain }: Rule, index: number): Rule {
  if ((group == null) === (domain == null))
    throw invalidField(`members[${index}]`, 'must have either a group or a domain');
  if (group != null) return { role, group };
  const parsed = parseMailDomain(domain ?? '');
  if (parsed === undefined) throw invalidField(`members[${index}].domain`, 'must be a domain');
  return { role, domain: parsed };
}

async function requireVerifiedDomains(
  transaction: DatabaseTransaction,
  call: OperationCall,
  rules: readonly Rule[],
): Promise<void> {
  for (const [index, { domain }] of rules.entries())
    if (domain != null && !(await hasVerifiedDomain(transaction, call.params.accountId, domain)))
      throw invalidField(
        `members[${index}].domain`,
        'isn’t a verified domain of the account. Verify it under Domains first',
      );
}
