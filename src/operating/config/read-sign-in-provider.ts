import type { SignInProvider } from '../../accounts/sign-in/single-sign-on/sign-in-provider.ts';
import { OperatorError } from '../../base/values/errors.ts';
import type { SettingName, SettingReader } from './settings-table.ts';

const needIssuer: readonly SettingName[] = [
  'OIDC_CLIENT_ID',
  'OIDC_CLIENT_SECRET',
  'OIDC_NAME',
  'OIDC_MEMBERS',
  'OIDC_TRUST_EMAIL',
  'OIDC_ONLY',
];

/** The installation's provider of OpenID Connect. @throws OperatorError */
export function readSignInProvider(given: SettingReader): SignInProvider | undefined {
  const issuer = given.read('OIDC_ISSUER');
  if (issuer === undefined) {
    given.refuse(needIssuer, 'has no effect without OIDC_ISSUER; set both.');
    return undefined;
  }
  const clientId = given.read('OIDC_CLIENT_ID');
  const clientSecret = given.read('OIDC_CLIENT_SECRET');
  if (clientId === undefined || clientSecret === undefined)
    throw new OperatorError('OIDC_ISSUER needs OIDC_CLIENT_ID and OIDC_CLIENT_SECRET; set all.');
  return {
    accountId: undefined,
    name: given.read('OIDC_NAME') ?? new URL(issuer).host,
    issuer,
    clientId,
    clientSecret,
    trustEmail: given.read('OIDC_TRUST_EMAIL'),
    onlyProvider: given.read('OIDC_ONLY'),
    members: given.read('OIDC_MEMBERS'),
  };
}
