import type { RequestOrigin } from '../../audit/audit-store.ts';
import type { Form } from '../form.ts';
import type { GrantType, StoredIntegration } from '../integration-store.ts';

/** A token request whose client is authenticated and may use the grant. */
export interface GrantRequest {
  readonly client: StoredIntegration;
  readonly form: Form;
  readonly origin: RequestOrigin;
}

/** What a grant hands out; the lifetime is the same for all (contract section 2.1). */
export interface TokenPair {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** One way to get tokens, by its `grant_type`. */
export interface Grant {
  readonly type: GrantType;
  /** @throws OAuthError where the grant is refused */
  run(request: GrantRequest): Promise<TokenPair>;
}
