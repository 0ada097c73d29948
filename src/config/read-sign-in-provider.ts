import { OperatorError } from '../foundation/errors.ts';
import { parseAccountId } from '../foundation/ids.ts';
import { parseMailDomain } from '../foundation/mail-domain.ts';
import { isLoopback } from '../session/single-sign-on/provider-fetch.ts';
import {
  isProviderRole,
  type ProviderMemberRule,
  providerRoles,
  type SignInProvider,
} from '../session/single-sign-on/sign-in-provider.ts';
import { readList, readSwitch } from './read-setting.ts';

const maxRules = 1_000;

/** The installation's provider of OpenID Connect. @throws OperatorError */
export function readSignInProvider(
  read: (name: string) => string | undefined,
): SignInProvider | undefined {
  const issuer = read('OIDC_ISSUER');
  const clientId = read('OIDC_CLIENT_ID');
  const clientSecret = read('OIDC_CLIENT_SECRET');
  if (issuer === undefined) {
    const unused = [
      'OIDC_CLIENT_ID',
      'OIDC_CLIENT_SECRET',
      'OIDC_NAME',
      'OIDC_MEMBERS',
      'OIDC_TRUST_EMAIL',
      'OIDC_ONLY',
    ].find((name) => read(name));
    if (unused === undefined) return undefined;
    throw new OperatorError(`${unused} is set, but has no effect without OIDC_ISSUER; set both.`);
  }
  if (clientId === undefined || clientSecret === undefined)
    throw new OperatorError('OIDC_ISSUER needs OIDC_CLIENT_ID and OIDC_CLIENT_SECRET; set all.');
  const url = readIssuer(issuer);
  return {
    accountId: undefined,
    name: read('OIDC_NAME') ?? url.host,
    issuer,
    clientId,
    clientSecret,
    trustEmail: readSwitch('OIDC_TRUST_EMAIL', read('OIDC_TRUST_EMAIL')) ?? false,
    onlyProvider: readSwitch('OIDC_ONLY', read('OIDC_ONLY')) ?? false,
    members: readMembers(read('OIDC_MEMBERS')),
  };
}

/** OpenID Connect Discovery section 3: an https URL without query and fragment. */
function readIssuer(text: string): URL {
  const url = URL.parse(text);
  const isSafe =
    url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
  if (url !== null && isSafe && !/[?#]/.test(text) && url.username + url.password === '')
    return url;
  throw new OperatorError(
    `OIDC_ISSUER must be an https URL without a query, such as https://login.example.com, not "${text}".`,
  );
}

function readMembers(text: string | undefined): ProviderMemberRule[] {
  const rules = readList(text);
  if (rules.length > maxRules)
    throw new OperatorError(`OIDC_MEMBERS can have at most ${maxRules} rules.`);
  return rules.map((rule) => {
    const [, account = '', role = '', who = ''] = /^([^:]*):([^:]*):(.+)$/.exec(rule) ?? [];
    const accountId = parseAccountId(account);
    const domain = who.startsWith('@') ? parseMailDomain(who.slice(1)) : undefined;
    if (accountId === undefined || !isProviderRole(role) || (who.startsWith('@') && !domain))
      throw new OperatorError(
        `OIDC_MEMBERS must list account:role:group or account:role:@domain with a role of ${providerRoles.join(', ')}, such as 1000:developer:engineering, not "${rule}".`,
      );
    return { accountId, role, who: domain === undefined ? { group: who } : { domain } };
  });
}
