import { decodeFormValue, type Form } from './form.ts';
import { InvalidClient, InvalidRequest } from './oauth-errors.ts';

/** What a client says of itself; `byHeader` where it used HTTP Basic. */
export interface ClientCredentials {
  readonly clientId: string;
  /** What the secret may be: HTTP Basic can be read in two ways. */
  readonly secrets: readonly string[];
  readonly byHeader: boolean;
}

/**
 * Finds the client's credentials in the form (contract section 5.1 rule 2) or in the Authorization header
 * (RFC 6749 section 2.3.1: each part form-encoded, then Basic). Both may be sent where they agree. Beside credentials in the
 * form a header of another scheme means nothing: known clients go on sending their last access token.
 * @throws InvalidClient where there are none, InvalidRequest where the two differ
 */
export function readClientCredentials(
  authorization: string | undefined,
  form: Form,
): ClientCredentials {
  const clientId = form.get('client_id');
  const secret = form.get('client_secret');
  const isBasic = authorization !== undefined && /^basic( |$)/i.test(authorization);
  if (authorization === undefined || (secret !== undefined && !isBasic)) {
    if (clientId === undefined || secret === undefined)
      throw new InvalidClient('The client must send client_id and client_secret', false);
    return { clientId, secrets: [secret], byHeader: false };
  }
  const credentials = decodeBasic(authorization);
  if (credentials === undefined)
    throw new InvalidClient('The Authorization header is not usable HTTP Basic', true);
  if (clientId !== undefined && clientId !== credentials.clientId)
    throw new InvalidRequest('The form and the Authorization header name different clients');
  if (secret !== undefined && !credentials.secrets.includes(secret))
    throw new InvalidRequest('The form and the Authorization header have different secrets');
  return { ...credentials, byHeader: true };
}

const basicPattern = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i;

/**
 * Client id and secret of a Basic header, or undefined where it is none. Both should be form-encoded; since many
 * clients leave that out, the secret is also taken as it stands.
 */
export function decodeBasic(
  authorization: string,
): { readonly clientId: string; readonly secrets: readonly string[] } | undefined {
  const encoded = basicPattern.exec(authorization)?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 0) return undefined;
  const clientId = decodeFormValue(text.slice(0, colon));
  const raw = text.slice(colon + 1);
  const secrets = [...new Set([decodeFormValue(raw) ?? raw, raw])].filter((one) => one !== '');
  if (clientId === undefined || clientId === '' || secrets.length === 0) return undefined;
  return { clientId, secrets };
}
