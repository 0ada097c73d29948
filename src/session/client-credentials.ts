import { decodeFormValue, type Form } from './form.ts';
import { InvalidClient, InvalidRequest } from './oauth-errors.ts';

/** The credentials of a client; `byHeader` if it used HTTP Basic. */
export interface ClientCredentials {
  readonly clientId: string;
  /** Possible secrets: HTTP Basic can be decoded in two ways. */
  readonly secrets: readonly string[];
  readonly byHeader: boolean;
}

/**
 * Reads the client's credentials from the form (contract section 5.1 rule 2) or the Authorization header (RFC 6749
 * section 2.3.1: each part form-encoded, then Basic). Both may be sent if they agree. With credentials in the form, a
 * header of another scheme is ignored, because known clients keep sending their last access token.
 * @throws InvalidClient if there are none, InvalidRequest if the two differ
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
      throw new InvalidClient('client_id and client_secret are required', false);
    return { clientId, secrets: [secret], byHeader: false };
  }
  const credentials = decodeBasic(authorization);
  if (credentials === undefined)
    throw new InvalidClient('The Authorization header is not valid HTTP Basic', true);
  if (clientId !== undefined && clientId !== credentials.clientId)
    throw new InvalidRequest('The form and the Authorization header name different clients');
  if (secret !== undefined && !credentials.secrets.includes(secret))
    throw new InvalidRequest('The form and the Authorization header contain different secrets');
  return { ...credentials, byHeader: true };
}

const basicPattern = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i;

/**
 * Client id and secret of a Basic header, or undefined if it isn't one. Both should be form-encoded; many clients
 * omit that, so the undecoded secret is accepted too.
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
