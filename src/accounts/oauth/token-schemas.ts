import { Type } from 'typebox';
import { OpenObject, OptionalText, Text, Whole } from '../../base/values/common-schemas.ts';
import { accessTokenSeconds } from './tokens-store.ts';

/** HTTP Basic can carry them instead. */
const clientMembers = {
  client_id: OptionalText('The client ID of the integration, unless HTTP Basic has it.'),
  client_secret: OptionalText('The client secret of the integration, unless HTTP Basic has it.'),
};

/** The form of `POST /token`, for the API description. Which members are required depends on the grant. */
export const TokenFormSchema = OpenObject('TokenForm', {
  grant_type: Type.Enum(['password', 'authorization_code', 'refresh_token']),
  ...clientMembers,
  username: OptionalText('Password grant: the service user’s email address.'),
  password: OptionalText('Password grant: the service user’s password.'),
  code: OptionalText('Code grant: the authorization code received at the redirect URL.'),
  redirect_uri: OptionalText('Code grant: the registered redirect URL.'),
  code_verifier: OptionalText('Code grant with PKCE (RFC 7636).'),
  refresh_token: OptionalText('Refresh grant: the one from the most recent token response.'),
});

/** The form of `POST /revoke` (RFC 7009) and `POST /introspect` (RFC 7662). */
export const OwnTokenFormSchema = OpenObject('OwnTokenForm', {
  ...clientMembers,
  token: Text('An access token or refresh token.'),
  token_type_hint: OptionalText('Ignored.'),
});

/** RFC 7662 section 2.2. */
export const IntrospectionSchema = OpenObject('Introspection', {
  active: Type.Boolean(),
  scope: Type.Optional(Type.String()),
  client_id: Type.Optional(Type.String()),
  username: OptionalText('The user’s email address.'),
  sub: OptionalText('The user’s ID.'),
  iss: Type.Optional(Type.String()),
  token_type: Type.Optional(Type.Enum(['bearer', 'refresh_token'])),
  iat: Type.Optional(Whole('Seconds since 1970.')),
  exp: Type.Optional(Whole('Seconds since 1970.')),
  account_id: Type.Optional(Type.Union([Type.String(), Type.Null()])),
});

const stringList = Type.Array(Type.String());

/** RFC 8414 section 2. */
export const ServerMetadataSchema = OpenObject('ServerMetadata', {
  issuer: Type.String(),
  authorization_endpoint: Type.String(),
  token_endpoint: Type.String(),
  revocation_endpoint: Type.String(),
  introspection_endpoint: Type.String(),
  scopes_supported: stringList,
  response_types_supported: stringList,
  response_modes_supported: stringList,
  grant_types_supported: stringList,
  token_endpoint_auth_methods_supported: stringList,
  revocation_endpoint_auth_methods_supported: stringList,
  introspection_endpoint_auth_methods_supported: stringList,
  code_challenge_methods_supported: stringList,
  authorization_response_iss_parameter_supported: Type.Boolean(),
});

/** RFC 6749 section 5.1. */
export const TokenSchema = OpenObject('TokenResponse', {
  token_type: Type.Literal('bearer'),
  expires_in: Type.Literal(accessTokenSeconds, { description: 'Seconds.' }),
  access_token: Type.String(),
  refresh_token: Text('Works once.'),
});

/** RFC 6749 section 5.2. */
export const OAuthErrorSchema = OpenObject('OAuthError', {
  error: Type.String(),
  error_description: Type.Optional(Type.String()),
});
