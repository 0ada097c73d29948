/**
 * An authorization request with an unknown integration or wrong redirect URL. Shown as a page, because redirecting
 * would make the service an open redirector (RFC 6749 section 4.1.2.1, RFC 9700 section 4.11).
 */
export class UnusableRequest extends Error {
  override name = 'UnusableRequest';
}

/** Error codes of an authorization response (RFC 6749 section 4.1.2.1). */
export type AuthorizationErrorCode =
  | 'invalid_request'
  | 'unauthorized_client'
  | 'access_denied'
  | 'unsupported_response_type'
  | 'invalid_scope';

/** Where to send the response to an authorization request. */
export interface ResponseTarget {
  readonly redirectUri: string;
  /** Returned unchanged if it was sent. */
  readonly state: string | undefined;
}

/** An error that is reported to the integration by redirect (RFC 6749 section 4.1.2.1). */
export class AuthorizationRefused extends Error {
  override name = 'AuthorizationRefused';
  readonly error: AuthorizationErrorCode;
  readonly target: ResponseTarget;

  constructor(error: AuthorizationErrorCode, description: string, target: ResponseTarget) {
    super(description);
    this.error = error;
    this.target = target;
  }
}
