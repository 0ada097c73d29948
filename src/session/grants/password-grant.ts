import type { PersonWithPassword } from '../../account/person-store.ts';
import type { AuditStore, RequestOrigin } from '../../audit/audit-store.ts';
import type { PersonId } from '../../foundation/ids.ts';
import { type InitialTokensDependencies, issueInitialTokens } from '../initial-tokens.ts';
import type { StoredIntegration } from '../integration-store.ts';
import { InvalidGrant, OAuthError } from '../oauth-errors.ts';
import type { PasswordAuthenticator } from '../password-checker.ts';
import type { SecondFactors } from '../second-factor.ts';
import type { Grant, GrantRequest, TokenPair } from './grant.ts';

export interface PasswordGrantDependencies extends InitialTokensDependencies {
  readonly passwordAuthenticator: PasswordAuthenticator;
  readonly secondFactors: Pick<SecondFactors, 'has'>;
  readonly audit: AuditStore;
}

/**
 * The password grant (contract section 5.2). RFC 9700 section 2.4 advises against it; it is for in-house integrations
 * with a service user, and only if they are registered for it.
 */
export class PasswordGrant implements Grant {
  readonly type = 'password';
  readonly #dependencies: PasswordGrantDependencies;

  constructor(dependencies: PasswordGrantDependencies) {
    this.#dependencies = dependencies;
  }

  /** Checks the password before the allowance, so that a 429 of the allowance reveals nothing to an attacker. */
  async run({ client, form, origin }: GrantRequest): Promise<TokenPair> {
    const email = form.require('username');
    const password = form.require('password');
    const person = await this.#authenticate(email, password, client, origin);
    try {
      await this.#refuseSecondFactor(person);
      const tokens = await this.#issue(person, client);
      await this.#record('success', person.id, client, origin);
      return tokens;
    } catch (error) {
      if (error instanceof OAuthError)
        await this.#record('refused', person.id, client, origin, error.error);
      throw error;
    }
  }

  async #authenticate(
    email: string,
    password: string,
    client: StoredIntegration,
    origin: RequestOrigin,
  ): Promise<PersonWithPassword> {
    const result = await this.#dependencies.passwordAuthenticator.authenticate(email, password, {
      kind: 'client',
      accountId: client.accountId,
      clientId: client.clientId,
      remoteAddress: origin.remoteAddress,
    });
    if (result.person !== undefined) return result.person;
    const reason = result.needsProvider ? 'needs_provider' : 'wrong_password';
    await this.#record('refused', result.claimed?.id, client, origin, reason);
    if (result.needsProvider)
      throw new InvalidGrant('This user signs in with a provider; use a service user');
    throw new InvalidGrant('The user name or password is wrong', {
      cause: result.claimed === undefined ? 'unknown person' : 'wrong password or disabled person',
    });
  }

  /** A password alone must not be worth more here than on the sign-in page. */
  async #refuseSecondFactor(person: PersonWithPassword): Promise<void> {
    if (await this.#dependencies.secondFactors.has(person.id))
      throw new InvalidGrant(
        'This user has a second factor; use the code grant, or a service user',
      );
  }

  #issue(person: PersonWithPassword, client: StoredIntegration): Promise<TokenPair> {
    return issueInitialTokens(this.#dependencies, {
      personId: person.id,
      clientId: client.clientId,
      accountId: undefined,
      passwordHash: person.passwordHash,
      codeHash: undefined,
    });
  }

  #record(
    outcome: 'success' | 'refused',
    personId: PersonId | undefined,
    { clientId, accountId }: StoredIntegration,
    origin: RequestOrigin,
    reason?: string,
  ): Promise<void> {
    const kind = 'password_grant';
    const detail: Record<string, string> = reason === undefined ? {} : { reason };
    return this.#dependencies.audit.record({
      kind,
      outcome,
      personId,
      clientId,
      accountId,
      origin,
      detail,
    });
  }
}
