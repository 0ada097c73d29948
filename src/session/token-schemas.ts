import { type TSchema, Type } from 'typebox';
import { accessTokenSeconds } from './issue-tokens-store.ts';

function text(description: string): TSchema {
  return Type.String({ description });
}

/** The form of `POST /token`, for the API description. Which members are required depends on the grant. */
export const TokenFormSchema = Type.Object(
  {
    grant_type: Type.Enum(['password', 'authorization_code', 'refresh_token']),
    client_id: text('The client ID of the integration.'),
    client_secret: text('The client secret of the integration.'),
    username: Type.Optional(text('Password grant: the service user’s email address.')),
    password: Type.Optional(text('Password grant: the service user’s password.')),
    code: Type.Optional(text('Code grant: the authorization code received at the redirect URL.')),
    redirect_uri: Type.Optional(text('Code grant: the registered redirect URL.')),
    code_verifier: Type.Optional(text('Code grant with PKCE (RFC 7636).')),
    refresh_token: Type.Optional(
      text('Refresh grant: the one from the most recent token response.'),
    ),
  },
  { title: 'TokenForm' },
);

/** RFC 6749 section 5.1. */
export const TokenSchema = Type.Object(
  {
    token_type: Type.Literal('bearer'),
    expires_in: Type.Literal(accessTokenSeconds, { description: 'Seconds.' }),
    access_token: Type.String(),
    refresh_token: Type.String({ description: 'Works once.' }),
  },
  { title: 'TokenResponse' },
);

/** RFC 6749 section 5.2. */
export const OAuthErrorSchema = Type.Object(
  { error: Type.String(), error_description: Type.Optional(Type.String()) },
  { title: 'OAuthError' },
);
