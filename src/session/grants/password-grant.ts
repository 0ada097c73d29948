import type { PersonWithPassword } from '../../account/person-store.ts';
import type { PersonId } from '../../foundation/ids.ts';
import type { AuditStore, Origin } from '../audit-store.ts';
import { type InitialTokensParts, issueInitialTokens } from '../initial-tokens.ts';
import type { KnownIntegration } from '../integration-store.ts';
import { InvalidGrant, OAuthError } from '../oauth-errors.ts';
import type { PersonProver } from '../prove-person.ts';
import type { SecondFactors } from '../second-factor.ts';
import type { Grant, GrantRequest, TokenPair } from './grant.ts';

export interface PasswordGrantParts extends InitialTokensParts {
  readonly prover: PersonProver;
  readonly secondFactors: Pick<SecondFactors, 'has'>;
  readonly audit: AuditStore;
}

/**
 * The password grant (contract section 5.2). RFC 9700 section 2.4 advises against it; it is for in-house integrations
 * with a service user, and only where they are registered for it.
 */
export class PasswordGrant implements Grant {
  readonly type = 'password';
  readonly #parts: PasswordGrantParts;

  constructor(parts: PasswordGrantParts) {
    this.#parts = parts;
  }

  /** The password comes before the allowance, so that a 429 of the allowance tells a stranger nothing. */
  async run({ client, form, origin }: GrantRequest): Promise<TokenPair> {
    const email = form.require('username');
    const password = form.require('password');
    const person = await this.#provePerson(email, password, client, origin);
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

  async #provePerson(
    email: string,
    password: string,
    client: KnownIntegration,
    origin: Origin,
  ): Promise<PersonWithPassword> {
    const proof = await this.#parts.prover.prove(email, password, {
      kind: 'client',
      clientId: client.clientId,
      remoteAddress: origin.remoteAddress,
    });
    if (proof.person !== undefined) return proof.person;
    await this.#record('refused', proof.named?.id, client, origin, 'wrong_password');
    throw new InvalidGrant('The user or the password is wrong', {
      cause: proof.named === undefined ? 'unknown person' : 'wrong password or disabled person',
    });
  }

  /** A password alone must not be worth more here than on the sign-in page. */
  async #refuseSecondFactor(person: PersonWithPassword): Promise<void> {
    if (await this.#parts.secondFactors.has(person.id))
      throw new InvalidGrant(
        'This user signs in with a second factor; use the code grant, or a service user',
      );
  }

  #issue(person: PersonWithPassword, client: KnownIntegration): Promise<TokenPair> {
    return issueInitialTokens(this.#parts, {
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
    { clientId, accountId }: KnownIntegration,
    origin: Origin,
    reason?: string,
  ): Promise<void> {
    const kind = 'password_grant';
    const detail: Record<string, string> = reason === undefined ? {} : { reason };
    return this.#parts.audit.record({
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
