import type { RequestOrigin } from '../../audit/audit-store.ts';
import type { Form } from '../form.ts';
import type { GrantType, StoredIntegration } from '../integration-store.ts';

/** A token request whose client is authenticated and may use the grant. */
export interface GrantRequest {
  readonly client: StoredIntegration;
  readonly form: Form;
  readonly origin: RequestOrigin;
}

/** The tokens that a grant issues; their lifetime is always the same (contract section 2.1). */
export interface TokenPair {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** A grant type. */
export interface Grant {
  readonly type: GrantType;
  /** @throws OAuthError if the grant is refused */
  run(request: GrantRequest): Promise<TokenPair>;
}
